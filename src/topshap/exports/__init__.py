"""A `topshap.TopK` in the forms that other libraries use, and as a file."""
