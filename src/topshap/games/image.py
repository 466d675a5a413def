"""Image attribution: the superpixels of an image are the players."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from topshap.core.errors import AnswerShapeError
from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, in_blocks
from topshap.games.outputs import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Coalitions, Values


@front_door
class ImageGame(GroupedGame):
    """Regions of an image as players: v(S) is the score of the image with all regions outside S filled in.

    Parameters
    ----------
    score
        A function from images, an array of shape (m, height, width) or (m, height, width, channels), to m numbers.
    image
        The image: an array of shape (height, width) or (height, width, channels). Its dtype is kept.
    segments
        The approximate number of regions, which scikit-image's SLIC then determines (needs the extra
        ``topshap[image]``), or the regions themselves: an array of shape (height, width) with one number per region.
    fill
        The content of a region outside S: ``"mean"``, the mean colour of the image; ``"blur"``, the blurred image; or
        a number, or one number per channel.
    groups
        A dict from a player's name to its regions. Each region that is not in a group is a separate player.
    always
        Regions or groups that are always visible and are therefore not players.
    batch_bytes
        The approximate memory of the images in one call to `score`, in bytes.
    fingerprint
        A name for the score in stores, if it cannot be fingerprinted. It replaces the score only: image, options and
        players are always part of the fingerprint.

    Attributes
    ----------
    segments : ndarray
        The region of each pixel, numbered from 0.

    Examples
    --------
    >>> import topshap
    >>> image = np.zeros((4, 4))
    >>> image[:2, 2:] = 1.0
    >>> quarters = [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    >>> game = ImageGame(lambda images: images.max(axis=(1, 2)), image, segments=quarters, fill=0.0)
    >>> topshap.identify(game, k=1).names
    ('region 1',)
    """

    _functions = ("score",)

    def __init__(
        self,
        score: Callable[[NDArray[Any]], Any],
        image: ArrayLike,
        *,
        segments: int | ArrayLike = 14,
        fill: str | ArrayLike = "mean",
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        batch_bytes: int = 2**26,
        fingerprint: str | None = None,
    ) -> None:
        if not callable(score):
            refuse("score", score, must_be="a function from an array of images to one number per image")
        self._score = score
        self._image = np.array(image)
        if self._image.ndim not in (2, 3) or self._image.size == 0 or self._image.dtype.kind not in "biuf":
            must_be = "an array of numbers of shape (height, width) or (height, width, channels)"
            refuse("image", got=f"{self._image.dtype} of shape {self._image.shape}", must_be=must_be)
        self.segments = _regions(self._image, segments)
        self._filled = _filled(self._image, fill)
        names = [f"region {i}" for i in range(int(self.segments.max()) + 1)]
        super().__init__(PlayerGroups(names, groups, always, element="region"), fingerprint)
        self._at_once = check_int("batch_bytes", batch_bytes, low=1) // self._image.nbytes

    def image_of(self, coalition: Any) -> NDArray[Any]:
        """Return the image that is scored for a coalition of players, a bool array of shape (n,)."""
        return self._images(self._groups.present(np.asarray(coalition)[None, :]))[0]

    def _images(self, present: Coalitions) -> NDArray[Any]:
        visible = present[:, self.segments]
        visible = visible[..., None] if self._image.ndim == 3 else visible
        return np.where(visible, self._image, self._filled)

    def _values(self, present: Coalitions) -> Values:
        return in_blocks(self._scores, present, self._at_once)

    def _scores(self, present: Coalitions) -> Values:
        answer = as_array(self._score(self._images(present)))
        if answer.size != len(present) or answer.dtype.kind not in "biuf":
            raise AnswerShapeError(
                f"The score of an ImageGame must return one number per image, {len(present)} here. "
                f"Got {answer.dtype} of shape {answer.shape} instead. Select one output, as in scores[:, 3]."
            )
        return answer.reshape(-1).astype(np.float64)

    def _parts(self) -> dict[str, Any]:
        return {"score": self._score, "image": self._image, "filled": self._filled, "segments": self.segments}


def _regions(image: NDArray[Any], segments: Any) -> NDArray[np.intp]:
    if isinstance(segments, Integral):
        count = check_int("segments", segments, low=1)
        segmentation = import_extra(
            "skimage.segmentation", extra="image", needed_by="ImageGame with a number of segments"
        )
        channel_axis = -1 if image.ndim == 3 else None
        labels = segmentation.slic(_scaled_to_one(image), n_segments=count, channel_axis=channel_axis, start_label=0)
    else:
        labels = np.asarray(segments)
    if labels.shape != image.shape[:2]:
        must_be = f"a number of regions, or an array of the image's shape {image.shape[:2]}"
        refuse("segments", got=f"an array of shape {labels.shape}", must_be=must_be)
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.intp)


def _scaled_to_one(image: NDArray[Any]) -> NDArray[np.float64]:
    """Scale the values of an image to [0, 1], as SLIC expects."""
    values = image.astype(np.float64)
    low, high = (0.0, 255.0) if image.dtype == np.uint8 else (values.min(), values.max())
    return (values - low) / ((high - low) or 1.0)


def _filled(image: NDArray[Any], fill: Any) -> NDArray[Any]:
    """Return the image with every region filled in, in the image's dtype."""
    if isinstance(fill, str):
        if fill not in ("mean", "blur"):
            refuse("fill", fill, must_be="'mean', 'blur', a number or one number per channel")
        if fill == "mean":
            filled = np.broadcast_to(image.mean(axis=(0, 1)), image.shape)
        else:
            width = max(image.shape[:2]) / 10.0
            filled = scipy.ndimage.gaussian_filter(image.astype(np.float64), sigma=(width, width, 0.0)[: image.ndim])
    else:
        try:
            filled = np.broadcast_to(np.asarray(fill, dtype=np.float64), image.shape)
        except (TypeError, ValueError):
            refuse("fill", fill, must_be="'mean', 'blur', a number or one number per channel")
    return (np.round(filled) if image.dtype.kind in "iu" else filled).astype(image.dtype)
