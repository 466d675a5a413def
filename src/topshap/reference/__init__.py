"""References for estimates: exact Shapley values, metrics, and the theory of CMCS."""
