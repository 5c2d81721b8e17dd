"""Linear algebra of batches: products, ranks, scaling, refinement."""
