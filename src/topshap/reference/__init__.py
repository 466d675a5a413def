"""What estimates are judged by: exact Shapley values, metrics, and the theory of CMCS."""
