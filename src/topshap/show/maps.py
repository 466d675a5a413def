"""The top k in their context: words highlighted in a text, regions in an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.printable import printable
from topshap.core.validation import front_door, refuse
from topshap.show.board import check_players, has_learned, tied_at_border
from topshap.show.labels import name_of
from topshap.show.style import FAINT_TEXT, INK, INSIDE, axes_or_new
from topshap.show.wording import NOTHING_LEARNED
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from numpy.typing import ArrayLike, NDArray

    from topshap.core.result import TopK
    from topshap.core.typing import Players

_LINE_HEIGHT = 2.1
"""The distance between lines of text in font sizes; ranks are written between them."""
_ABOVE, _BELOW = 1.5, 0.5
"""The space above the baseline of the first line and below that of the last, in font sizes."""
_ROUNDING = 1.02
"""A margin for the widths of letters, which are rounded differently at each resolution."""


@front_door
def text_map(
    top: TopK,
    ax: Axes | None = None,
    *,
    pieces: Iterable[str] | None = None,
    player_of: ArrayLike | None = None,
    fontsize: float = 11.0,
) -> Axes:
    """Write a text with the pieces of the top k highlighted, the best the darkest, and numbered by rank.

    Players that tie at the border are marked as tied. While nothing distinguishes the players, nothing is highlighted,
    and the title says so.

    Parameters
    ----------
    top
        The result.
    ax
        The axes to write on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    pieces
        The pieces of the text in their order, such as its words; by default the players' names.
    player_of
        The index of the player that each piece belongs to; a number that is not an index belongs to no player. By
        default there is one piece for each player.
    fontsize
        The size of the text in points.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the text.

    Examples
    --------
    >>> import topshap
    >>> words = "the plot is thin but the acting is superb".split()
    >>> game = topshap.games.AdditiveGame([0.0, 0.1, 0.0, -1.0, 0.2, 0.0, 0.4, 0.0, 2.0])
    >>> ax = topshap.show.text_map(topshap.identify(game, k=2), pieces=words)
    >>> [text.get_text() for text in ax.texts if text.get_bbox_patch()]
    ['acting', 'superb']
    """
    check_players(top)
    named = pieces is None
    texts = [name_of(top, i) for i in range(top.n_players)] if pieces is None else [str(piece) for piece in pieces]
    owners = _owners(player_of, len(texts))
    if not named and player_of is None and len(texts) != top.n_players:
        refuse("pieces", texts, must_be=f"one text for each of the {top.n_players} players")
    fit_height = ax is None
    ax = axes_or_new(ax, width=7.0, height=1.0)
    ax.set_axis_off()
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    _say_if_nothing_is_marked(ax, top)
    marks, strengths = _marks(top), _strengths(top)
    written = [
        (_piece(ax, text, strengths.get(player), fontsize), _mark_above(ax, marks.get(player, ""), fontsize))
        for text, player in zip(texts, owners.tolist(), strict=True)
    ]
    _set_in_lines(ax, written, fontsize, fit_height=fit_height)
    return ax


@front_door
def image_map(top: TopK, image: ArrayLike, segments: ArrayLike, ax: Axes | None = None) -> Axes:
    """Show an image in which the regions of the top k are framed and numbered by rank, and the rest is faded.

    Players that tie at the border are marked as tied. While nothing distinguishes the players, nothing is framed or
    faded, and the title says so.

    Parameters
    ----------
    top
        The result.
    image
        An array of shape (height, width) or (height, width, 3 or 4), as matplotlib shows it.
    segments
        The index of the player that each pixel belongs to, of shape (height, width); a number that is not an index
        belongs to no player.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> quarters = [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    >>> top = topshap.identify(topshap.games.AdditiveGame([0.1, 3.0, 0.0, 1.0]), k=2)
    >>> ax = topshap.show.image_map(top, np.zeros((4, 4)), quarters)
    >>> [text.get_text() for text in ax.texts]
    ['1', '2']
    """
    check_players(top)
    pixels, regions = np.asarray(image), np.asarray(segments)
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "biuf":
        refuse("image", image, must_be="an array of numbers of shape (height, width, ...)")
    if regions.dtype.kind not in "iu" or regions.shape != pixels.shape[:2]:
        must_be = f"an array of ints of shape {pixels.shape[:2]}, as high and wide as the image"
        refuse("segments", segments, must_be=must_be)
    ax = axes_or_new(ax, width=4.8, height=4.8)
    ax.set_axis_off()
    ax.imshow(pixels, cmap="gray" if pixels.ndim == 2 else None)
    _say_if_nothing_is_marked(ax, top)
    marks, framed = _marks(top), set(_strengths(top))
    if framed:
        veil = np.ones((*regions.shape, 4))
        veil[..., 3] = np.where(np.isin(regions, top.players), 0.0, 0.72)
        ax.imshow(veil)
    for player, mark in marks.items():
        mask = regions == player
        if mask.any():
            if player in framed:
                _frame(ax, mask)
            row, column = _middle(mask)
            shape, colour = "circle" if mark.isdigit() else "round", INSIDE if player in framed else FAINT_TEXT
            box = {"boxstyle": f"{shape},pad=0.25", "facecolor": colour, "edgecolor": "white"}
            ax.text(column, row, mark, ha="center", va="center", color="white", fontsize="small", bbox=box)
    return ax


def _say_if_nothing_is_marked(ax: Axes, top: TopK) -> None:
    if not has_learned(top):
        ax.set_title(f"No ranking: {NOTHING_LEARNED}.", loc="left", fontsize="medium")


def _marks(top: TopK) -> dict[int, str]:
    """Return the rank of each of the top k as text, with "tied" for players that tie at the border."""
    if not has_learned(top):
        return {}
    marks = {player: str(rank) for rank, player in enumerate(top.players.tolist(), start=1)}
    return marks | {player: f"{marks.get(player, '')} tied".strip() for player in tied_at_border(top).tolist()}


def _owners(player_of: ArrayLike | None, n_pieces: int) -> Players:
    """Return the player of each piece."""
    if player_of is None:
        return np.arange(n_pieces)
    owners = np.asarray(player_of)
    if owners.dtype.kind not in "iu" or owners.shape != (n_pieces,):
        refuse("player_of", player_of, must_be=f"one int for each of the {n_pieces} pieces")
    return owners.astype(np.intp)


def _strengths(top: TopK) -> dict[int, float]:
    """Return how strongly to highlight each of the top k, from 0.25 to 1; empty if nothing is to be highlighted."""
    if not has_learned(top):
        return {}
    keys = rank_key(top.estimates[top.players], top.rank_by)
    highest = np.abs(keys).max()
    strengths = np.clip(keys / highest if highest > 0 else np.ones(top.k), 0.25, 1.0)
    return dict(zip(top.players.tolist(), strengths.tolist(), strict=True))


def _piece(ax: Axes, text: str, strength: float | None, fontsize: float) -> Text:
    """Write one piece, highlighted if it is one of the top k."""
    style: dict[str, Any] = {"color": FAINT_TEXT}
    if strength is not None:
        shade = [1.0 - strength * (1.0 - channel) for channel in _rgb(INSIDE)]
        style = {"color": "white" if strength > 0.55 else INK, "fontweight": "bold"}
        style["bbox"] = {"boxstyle": "round,pad=0.15", "facecolor": shade, "edgecolor": INSIDE}
    line = printable(" ".join(text.split()))
    return ax.text(0.0, 0.0, line, va="baseline", fontsize=fontsize, parse_math=False, **style)


def _mark_above(ax: Axes, mark: str, fontsize: float) -> Text | None:
    """Write the mark of a piece, if it has one."""
    if not mark:
        return None
    colour = INSIDE if mark[0].isdigit() else FAINT_TEXT
    return ax.text(0.0, 0.0, mark, fontsize=0.62 * fontsize, color=colour, fontweight="bold")


def _set_in_lines(ax: Axes, written: list[tuple[Text, Text | None]], fontsize: float, *, fit_height: bool) -> None:
    """Arrange the pieces in lines as wide as the axes, with their marks above them."""
    figure: Any = ax.figure
    figure.canvas.draw()  # so that the axes have their final width
    size = fontsize * figure.dpi / 72
    room = ax.get_window_extent().width
    x, line = 0.0, 0
    places = []
    for text, mark in written:
        pad = 0.0 if text.get_bbox_patch() is None else 0.2 * size  # the frame around a highlighted piece
        width = max(_width(text), 0.0 if mark is None else _width(mark)) * figure.dpi / 72 + 2 * pad
        if x > 0 and x + width > room:
            x, line = 0.0, line + 1
        places.append((x + pad, line))
        x += width + 0.45 * size
    if fit_height:
        title = 2.0 if ax.get_title(loc="left") else 0.0
        figure.set_figheight(0.1 + (title + _ABOVE + _LINE_HEIGHT * line + _BELOW) * fontsize / 72)
        figure.canvas.draw()
    height = ax.get_window_extent().height
    for (text, mark), (left, below) in zip(written, places, strict=True):
        baseline = height - (_ABOVE + _LINE_HEIGHT * below) * size
        text.set_position((left / room, baseline / height))
        if mark is not None:
            mark.set_position((left / room, (baseline + 1.08 * size) / height))


def _width(text: Text) -> float:
    """Return the width of a text in points, at any resolution."""
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 - an extra

    width, _, _ = text_to_path.get_text_width_height_descent(text.get_text(), text.get_fontproperties(), ismath=False)
    return _ROUNDING * float(width)


def _frame(ax: Axes, mask: NDArray[np.bool_]) -> None:
    """Draw a line around a region along the edges of its pixels, blue on white to be visible on any background."""
    padded = np.pad(mask, 1)
    across, along = np.argwhere(padded[1:] != padded[:-1]), np.argwhere(padded[:, 1:] != padded[:, :-1])
    flat = [[(column - 1.5, row - 0.5), (column - 0.5, row - 0.5)] for row, column in across.tolist()]
    upright = [[(column - 0.5, row - 1.5), (column - 0.5, row - 0.5)] for row, column in along.tolist()]
    lines: Any = import_extra("matplotlib.collections", extra="plots", needed_by="topshap.show.image_map")
    for colour, width in (("white", 3.0), (INSIDE, 1.5)):
        style: dict[str, Any] = {"colors": colour, "linewidths": width, "capstyle": "projecting", "clip_on": False}
        ax.add_collection(lines.LineCollection(flat + upright, **style), autolim=False)


def _middle(mask: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the centre of a region, or its pixel closest to the centre if that is outside."""
    inside = np.argwhere(mask)
    centre = inside.mean(axis=0)
    if mask[tuple(centre.round().astype(int))]:
        return float(centre[0]), float(centre[1])
    closest = inside[np.argmin(((inside - centre) ** 2).sum(axis=1))]
    return float(closest[0]), float(closest[1])


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
