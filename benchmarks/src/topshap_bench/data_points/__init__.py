"""Training points as players: wrong labels, removal curves, and 100,000 points.

`tasks.py` makes the games, `valuations.py` runs topshap and its rivals at the same number of retrainings,
`comparison.py` measures what they find, and `large.py` measures time and memory.
"""
