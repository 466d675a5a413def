"""A store of every value that was paid for, in one SQLite file."""
