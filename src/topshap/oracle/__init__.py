"""Evaluating a game: workers, further attempts, time limits, and a store of everything that was paid for."""

from topshap.oracle.oracle import Oracle
from topshap.oracle.store import Store

__all__ = ["Oracle", "Store"]
