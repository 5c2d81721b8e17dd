"""Systems in independent variables, and the way back to all of them."""
