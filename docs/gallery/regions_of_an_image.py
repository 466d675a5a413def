"""The regions of an image behind a score: a digit, and a model that separates zeros from other digits."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import topshap

digits = load_digits()
model = SVC(gamma=0.001).fit(digits.data[100:], digits.target[100:] == 0)


def score(images: np.ndarray) -> np.ndarray:
    """Return the decision function of class zero for each image."""
    return model.decision_function(images.reshape(len(images), -1))


blocks = np.kron(np.arange(16).reshape(4, 4), np.ones((2, 2), dtype=int))  # regions of 2 x 2 pixels
game = topshap.games.ImageGame(score, digits.images[0], segments=blocks, fill="mean")
top = topshap.identify(game, k=4, budget=500, random_state=0)
print(top)
topshap.show.image_map(top, digits.images[0], blocks).figure.savefig("regions_of_an_image.png", dpi=150)

# If segments is an integer, scikit-image's SLIC segments the image by colour.
found = topshap.games.ImageGame(score, digits.images[0], segments=14, fill="blur")
print(f"\n{found.n_players} regions found; the top three: {topshap.identify(found, k=3, random_state=0).names}")
