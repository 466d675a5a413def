"""References to judge estimates by: exact Shapley values, metrics, and the theory of CMCS."""
