"""Evaluating a game: workers, retries, time limits, and a store of all evaluated values."""

from topshap.evaluation.oracle import Oracle
from topshap.evaluation.store.store import Store
from topshap.evaluation.store.stored_race import StoredRace

__all__ = ["Oracle", "Store", "StoredRace"]
