"""A game given by the complete table of its values, for published games and exact comparisons."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions, to_ids
from topshap.core.errors import ParameterError
from topshap.core.fingerprints import fingerprint_of
from topshap.core.outputs import check_outputs
from topshap.core.tables import check_table, n_players_of, shapley_from_table
from topshap.core.validation import check_int, check_names, front_door, refuse

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from topshap.core.typing import Coalitions, Values

_HEADER_BYTES = 2**16
"""The room for the headers of the arrays and for the names of the players."""


@front_door
class TableGame:
    """A game given by the complete table of its values.

    Parameters
    ----------
    values
        An array of 2**n numbers: entry b is the value of the coalition of all players i with bit i set in b. For
        R outputs it has the shape (2**n, R). The array is copied.
    player_names
        One name per player.
    output_names
        One name per output, for a table of several.

    Attributes
    ----------
    n_players : int
        The number of players n.
    player_names : tuple of str, or None
        One name per player, or None.
    n_outputs : int or None
        The number of outputs; None for one number per coalition.
    output_names : tuple of str, or None
        One name per output, or None.
    values : ndarray
        The table, read-only.

    Examples
    --------
    >>> game = TableGame([0.0, 1.0, 2.0, 5.0], player_names=["Ann", "Bob"])
    >>> game(np.array([[True, False], [True, True]]))
    array([1., 5.])
    >>> game.shapley_values()
    array([2., 3.])
    """

    def __init__(
        self,
        values: ArrayLike,
        player_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self.values: Values = check_table("values", values, outputs=True).copy()
        self.values.setflags(write=False)
        self.n_players = n_players_of(self.values)
        self.player_names = check_names(player_names, self.n_players)
        columns = self.values.shape[1] if self.values.ndim == 2 else None
        if columns is None and output_names is not None:
            refuse("output_names", output_names, must_be="None for a table of one number per coalition")
        self.n_outputs, self.output_names = check_outputs(columns, output_names)

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, computed from its values."""
        return fingerprint_of("TableGame", values=self.values)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        return self.values[to_ids(check_coalitions(coalitions, self.n_players))]

    def __repr__(self) -> str:
        return f"TableGame(n_players={self.n_players}, player_names={self.player_names})"

    def __reduce__(self) -> tuple[type[Self], tuple[Values, tuple[str, ...] | None, tuple[str, ...] | None]]:
        # The constructor runs again on unpickling, since unpickled arrays are writeable.
        return type(self), (self.values, self.player_names, self.output_names)

    def shapley_values(self) -> Values:
        """Return the exact Shapley values as a read-only array, computed only once.

        Examples
        --------
        >>> TableGame([0.0, 1.0, 2.0, 5.0]).shapley_values()
        array([2., 3.])
        """
        return self._shapley_values

    @cached_property
    def _shapley_values(self) -> Values:
        phi = shapley_from_table(self.values)
        phi.setflags(write=False)
        return phi

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table and the player names, if any, to this path as an ``.npz`` archive.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     TableGame([0.0, 1.0, 2.0, 5.0]).save(folder + "/game.npz")
        ...     TableGame.load(folder + "/game.npz").values
        array([0., 1., 2., 5.])
        """
        arrays: dict[str, Any] = {"values": self.values}
        if self.player_names is not None:
            arrays["player_names"] = np.array(self.player_names)
        if self.output_names is not None:
            arrays["output_names"] = np.array(self.output_names)
        # numpy appends .npz to a path with another suffix, but not to an open file.
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = 2**31) -> Self:
        """Read a game from an ``.npz`` archive with the array ``values`` and optionally with names.

        Loading a file never executes code: archives with pickled objects are rejected.

        Parameters
        ----------
        path
            The path of the archive.
        max_bytes
            The largest size of the uncompressed arrays. The default is that of a game with 28 players.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     TableGame([0.0, 1.0], player_names=["Ann"]).save(folder + "/game.npz")
        ...     TableGame.load(folder + "/game.npz")
        TableGame(n_players=1, player_names=('Ann',))
        """
        must_be = "The 'path' parameter of TableGame.load must be an .npz archive with the array 'values'."
        # The file is opened here because numpy does not close a damaged archive.
        with Path(path).open("rb") as file:
            try:
                with np.load(file, allow_pickle=False) as archive:
                    found = list(archive)
                    _check_size(archive, str(path), check_int("max_bytes", max_bytes, low=1))
                    known = ("values", "player_names", "output_names")
                    arrays = {name: archive[name] for name in known if name in found}
            except ParameterError:
                raise
            except Exception as error:  # zipfile and numpy raise many kinds of errors for a damaged archive
                raise ParameterError(f"{must_be} Got {str(path)!r} instead, which cannot be read.") from error
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):  # numpy returns other files as bytes
            raise ParameterError(f"{must_be} Got {str(path)!r} instead, which cannot be read.")
        if "values" not in arrays:
            raise ParameterError(f"{must_be} Got {str(path)!r} instead, which contains {found}.")
        names = {name: arrays[name].tolist() for name in ("player_names", "output_names") if name in arrays}
        return cls(arrays["values"], **names)


def _check_size(archive: Any, path: str, max_bytes: int) -> None:
    """Raise an error for an archive whose arrays, uncompressed, are larger than the limit.

    The sizes are declared in the archive, and no more than that is read.
    """
    size = 0 if isinstance(archive, np.ndarray) else sum(entry.file_size for entry in archive.zip.infolist())
    if size > max_bytes + _HEADER_BYTES:
        raise ParameterError(
            f"{path!r} holds {size} bytes of uncompressed data, but the limit is {max_bytes}. If you trust the file "
            "and have the memory, set a higher 'max_bytes'."
        )
