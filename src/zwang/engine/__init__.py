"""The compiled solve: static elimination orders, fused kernels and the `Program` integrators run."""
