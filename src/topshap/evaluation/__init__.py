"""Evaluating a game: workers, further attempts, time limits, and a store of everything that was paid for."""

from topshap.evaluation.oracle import Oracle
from topshap.evaluation.store.store import Store

__all__ = ["Oracle", "Store"]
