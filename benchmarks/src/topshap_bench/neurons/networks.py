"""Networks with 200 units that are trained in seconds on scikit-learn's digits, and their games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from topshap.core.extras import import_extra
from topshap.games import NeuronGame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Players

N_TRAIN, N_SCORED = 1000, 100
"""The number of images to train on, and to score coalitions on; the others are held out."""


class Kind(NamedTuple):
    """A kind of network: how it is made, its layers with players, and the length of its training."""

    make: Callable[[Any], Any]
    layers: Sequence[str]
    units: Sequence[str]
    epochs: int


class Trained(NamedTuple):
    """A trained network with a game on scored images, and one on images that are held out."""

    module: Any
    game: NeuronGame
    held_out: NeuronGame


def import_torch() -> Any:
    """Return torch; the error for a missing installation names the extra."""
    return import_extra("torch", extra="torch", needed_by="topshap-bench neurons", package="topshap-bench")


def convolutional(nn: Any) -> Any:
    """Return a network with 16 and 40 channels and 144 units."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 40, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(160, 144),
        nn.ReLU(),
        nn.Linear(144, 10),
    )


def transformer(nn: Any) -> Any:
    """Return a transformer over the rows of an image, with 2 x 4 heads and 2 x 96 feed-forward units."""
    torch = import_torch()

    class Rows(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(16, 32)
            blocks = [nn.TransformerEncoderLayer(32, 4, 96, dropout=0.0, batch_first=True) for _ in range(2)]
            self.blocks = nn.Sequential(*blocks)
            self.classify = nn.Linear(32, 10)

        def forward(self, images: Any) -> Any:
            positions = torch.eye(8).expand(len(images), 8, 8)
            rows = self.embed(torch.cat([images, positions], dim=2))
            return self.classify(self.blocks(rows).mean(dim=1))

    return Rows()


KINDS = {
    "convolutional": Kind(convolutional, ("1", "4", "8"), ("channel", "channel", "neuron"), 8),
    "transformer": Kind(
        transformer,
        ("blocks.0.self_attn", "blocks.0.linear1", "blocks.1.self_attn", "blocks.1.linear1"),
        ("head", "neuron", "head", "neuron"),
        25,
    ),
}


def train(name: str, seed: int) -> Trained:
    """Train a network on a random part of the digits, and return its games."""
    torch = import_torch()
    kind = KINDS[name]
    images, labels = load_digits(return_X_y=True)
    X = torch.as_tensor(images.reshape(-1, 8, 8) / 16.0, dtype=torch.float32)
    y = torch.as_tensor(labels)
    order = np.random.default_rng(seed).permutation(len(labels))
    parts = np.split(order, [N_TRAIN, N_TRAIN + N_SCORED])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = kind.make(torch.nn)
        _fit(module, X[parts[0]], y[parts[0]], kind.epochs)
    module.eval()
    game, held_out = (
        NeuronGame(module, kind.layers, X[part], y[part], unit=kind.units) for part in (parts[1], parts[2])
    )
    return Trained(module, game, held_out)


def _fit(module: Any, X: Any, y: Any, epochs: int) -> None:
    torch = import_torch()
    optimizer = torch.optim.Adam(module.parameters(), lr=3e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(X[rows]), y[rows]).backward()
            optimizer.step()


def accuracy_without(game: NeuronGame, players: Players) -> float:
    """Return the accuracy of a network without some of its units."""
    row = np.ones((1, game.n_players), dtype=np.bool_)
    row[0, players] = False
    return float(game(row)[0])
