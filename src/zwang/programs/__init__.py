"""The compiled solve: elimination orders, fused kernels and the `Program` integrators run."""
