"""Doctests of modules that need a library outside of the extra ``all`` are collected where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/topshap/games/neurons/game.py"]
