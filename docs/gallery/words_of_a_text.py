"""The words behind a score: a small scikit-learn model of film reviews.

The score can be any function from a list of texts to numbers, for example a call to an LLM.
"""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import topshap

GOOD = """a great film with a great cast
funny and moving from start to finish
the best thriller of the year
wonderful music and a clever script
a clever, funny and wonderful story
moving, beautiful, simply great"""
BAD = """a dull film with a weak cast
boring and loud from start to finish
the worst thriller of the year
terrible music and a lazy script
a lazy, loud and boring story
dull, ugly, simply terrible"""

texts = GOOD.splitlines() + BAD.splitlines()
model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(texts, [1] * 6 + [0] * 6)


def score(texts: list[str]) -> list[float]:
    """Return the predicted probability of a good review."""
    return model.predict_proba(texts)[:, 1]


review = "loud at the start but a clever script and a wonderful cast"
game = topshap.games.TextGame(score, review)
top = topshap.identify(game, k=2, random_state=0)
print(top)
topshap.show.text_map(top, pieces=game.pieces).figure.savefig("words_of_a_text.png", dpi=150)

# The players are sentences, and a mask replaces absent ones.
longer = "The music is terrible. The story is moving. The cast is simply great!"
game = topshap.games.TextGame(score, longer, unit="sentence", mask="...")
print("\nthe top sentence:", topshap.identify(game, k=1).names[0])
