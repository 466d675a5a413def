"""ImageGame: the score of an image with some of its regions filled in."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import topshap
from topshap.core.errors import GameError, ParameterError
from topshap.games import ImageGame

IMAGE = np.random.default_rng(0).integers(0, 256, size=(20, 24, 3)).astype(np.uint8)
HALVES = np.repeat([5, 9], 12)[None, :].repeat(20, axis=0)


def brightness(images):
    return images.mean(axis=tuple(range(1, images.ndim)))


@pytest.mark.parametrize("fill", ["mean", "blur", 7, [1, 2, 3]])
def test_regions_outside_a_coalition_are_filled_in(fill):
    game = ImageGame(brightness, IMAGE, segments=HALVES, fill=fill)
    filled = {
        "mean": np.round(IMAGE.mean(axis=(0, 1))),
        "blur": np.round(gaussian_filter(IMAGE.astype(float), sigma=(2.4, 2.4, 0))),
    }.get(fill if isinstance(fill, str) else "", fill)
    expected = np.where((HALVES == 9)[..., None], IMAGE, filled).astype(np.uint8)
    shown = game.image_of(np.array([False, True]))
    assert shown.dtype == np.uint8
    np.testing.assert_array_equal(shown, expected)
    assert game(np.array([[False, True]]))[0] == pytest.approx(expected.mean())


def test_regions_are_numbered_and_the_grand_coalition_is_the_image():
    game = ImageGame(brightness, IMAGE, segments=HALVES)
    assert game.player_names == ("region 0", "region 1")
    np.testing.assert_array_equal(np.unique(game.segments), [0, 1])
    np.testing.assert_array_equal(game.image_of(np.array([True, True])), IMAGE)


BLOCKS = np.kron(IMAGE[:2, :3], np.ones((10, 8, 1), dtype=np.uint8))


@pytest.mark.parametrize("image", [BLOCKS, BLOCKS[..., 0] / 255.0])
def test_superpixels_are_found(image):
    pytest.importorskip("skimage")
    game = ImageGame(brightness, image, segments=6)
    assert 2 <= game.n_players <= 12
    assert game.segments.shape == image.shape[:2]


def test_batches_are_bounded():
    sizes = []

    def score(images):
        sizes.append(images.nbytes)
        return brightness(images)

    game = ImageGame(score, IMAGE, segments=np.arange(20 * 24).reshape(20, 24) // 60, batch_bytes=3 * IMAGE.nbytes)
    coalitions = np.random.default_rng(1).random((10, game.n_players)) < 0.5
    values = game(coalitions)
    assert max(sizes) == 3 * IMAGE.nbytes
    assert values == pytest.approx([game.image_of(row).mean() for row in coalitions])


def test_regions_of_a_linear_model_have_the_sums_of_their_pixels():
    digits = load_digits()
    model = LogisticRegression(max_iter=3000).fit(digits.data / 16.0, digits.target == 0)
    quarters = np.kron([[0, 1], [2, 3]], np.ones((4, 4), dtype=int))

    def score(images):
        return model.decision_function(images.reshape(len(images), -1) / 16.0)

    game = ImageGame(score, digits.images[0], segments=quarters, fill=0.0)
    top = topshap.identify(game, k=2)
    # The model is linear, so a region's value is the sum of its pixels' contributions.
    parts = [(model.coef_[0].reshape(8, 8) * digits.images[0] / 16.0)[quarters == q].sum() for q in range(4)]
    np.testing.assert_allclose(top.estimates, parts, atol=1e-9)
    assert game.fingerprint is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image": np.zeros(3)}, "'image' .* an array of numbers of shape"),
        ({"image": np.array([["a"]])}, "'image' .* an array of numbers"),
        ({"segments": np.zeros((3, 3))}, r"'segments' .* the image's shape \(20, 24\). Got an array of shape \(3, 3\)"),
        ({"segments": 0}, "'segments' .* int of at least 1"),
        ({"fill": "green"}, "'fill' .* 'mean', 'blur', a number"),
        ({"fill": [1, 2]}, "'fill' .* one number per channel"),
        ({"score": None}, "'score' .* a function"),
        ({"groups": {"g": ["region 7"]}}, "'groups' .* existing regions only"),
    ],
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(ParameterError, match=message):
        ImageGame(**({"score": brightness, "image": IMAGE, "segments": HALVES} | options))


def test_a_score_with_many_outputs_is_refused():
    with pytest.raises(GameError, match=r"one number per image, 1 here. Got float64 of shape"):
        ImageGame(lambda images: np.zeros((len(images), 3)), IMAGE, segments=HALVES)(np.array([[True, False]]))
