"""Global importance of models next to sage-importance and shap, at equal numbers of predictions."""
