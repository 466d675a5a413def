"""General statistics: running moments, intervals, confidence sequences, least squares, ranking and ties."""
