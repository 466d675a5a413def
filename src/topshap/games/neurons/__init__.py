"""Units of a torch network as players. torch is imported when a game is created."""

from topshap.games.neurons.game import NeuronGame

__all__ = ["NeuronGame"]
