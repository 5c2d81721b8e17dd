"""From terms to motion and forces: dense, sparse, and by the vote of all formulations."""
