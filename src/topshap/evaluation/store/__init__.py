"""The store: the values of a game in an SQLite file."""
