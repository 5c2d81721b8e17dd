"""Systems from functions: tracing, differentiation, and the data of a `zwang.System`."""
