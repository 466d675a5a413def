"""The parts of a prompt as players: the game, its scores, and the requests it makes."""

from topshap.games.prompt.game import PromptGame
from topshap.games.prompt.judge import Judge
from topshap.games.prompt.scores import AnswerLogProb, ExactMatch
from topshap.games.prompt.similarity import Similarity

__all__ = ["AnswerLogProb", "ExactMatch", "Judge", "PromptGame", "Similarity"]
