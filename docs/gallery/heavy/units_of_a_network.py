"""The channels that a convolutional network depends on, for all digits and for each of them.

The network is trained on the digits of scikit-learn in a few seconds. Needs the extra ``topshap[torch]``.
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import topshap

torch.set_num_threads(1)
torch.manual_seed(0)
images, labels = load_digits(return_X_y=True)
X, y = torch.tensor(images / 16.0, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(labels)
X_train, X_score, X_test = X[:1000], X[1000:1200], X[1200:]
y_train, y_score, y_test = y[:1000], y[1000:1200], y[1200:]

network = nn.Sequential()
network.add_module("conv1", nn.Conv2d(1, 12, 3, padding=1))
network.add_module("pool1", nn.Sequential(nn.ReLU(), nn.MaxPool2d(2)))
network.add_module("conv2", nn.Conv2d(12, 24, 3, padding=1))
network.add_module("pool2", nn.Sequential(nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()))
network.add_module("classify", nn.Linear(24 * 4, 10))
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(10):
    for rows in torch.randperm(len(X_train)).split(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(X_train[rows]), y_train[rows]).backward()
        optimizer.step()

layers = ["conv1", "conv2"]
game = topshap.games.NeuronGame(network, layers, X_score, y_score)
top = topshap.identify(game, k=5, budget=1000, random_state=0)
print(top)

# On images that were used neither for training nor for the game, the accuracy without these channels:
test = topshap.games.NeuronGame(network, layers, X_test, y_test)
without = np.ones((3, test.n_players), dtype=bool)
without[1, top.players] = False
without[2, np.random.default_rng(0).choice(test.n_players, 5, replace=False)] = False
everything, no_top, no_random = test(without)
print(f"accuracy {everything:.2f}, without the top 5 {no_top:.2f}, without 5 random channels {no_random:.2f}")


def accuracy_of_each_class(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the accuracy for each digit."""
    right = (outputs.argmax(dim=1) == targets).double()
    return torch.stack([right[targets == digit].mean() for digit in range(10)])


classes = topshap.games.NeuronGame(network, layers, X_score, y_score, score=accuracy_of_each_class)
each = topshap.identify(classes, k=3, budget=1000, random_state=0)
for digit, best in enumerate(each):
    print(f"the accuracy of {digit} depends most on {', '.join(best.names)}")
each.plot().figure.savefig("units_of_a_network.png", dpi=150)
