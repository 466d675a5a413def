"""Errors of odd-gp for pairs of players, next to algorithms of shapiq; see `topshap_bench.pairs.comparison`."""
