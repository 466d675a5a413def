"""Explanations of whole tables: set-ups with known Shapley values, other packages, and a comparison."""
