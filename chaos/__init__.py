"""Random attacks on topshap through its public interface: ``python -m chaos --minutes 30 --seed 0``.

An attack is a function ``attack(rng, folder)`` that raises an AssertionError if topshap loses, invents or repeats a
value, hangs, or fails with anything but an error of its own.
"""
