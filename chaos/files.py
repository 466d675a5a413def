"""Attacks with files: saved results, tables and archives that are damaged, or written to do harm."""

from __future__ import annotations

import copy
import gzip
import io
import json
import sys
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from chaos.children import GIBIBYTE, run
from chaos.commands import check_command, check_printable
from chaos.games import N_PLAYERS, values_of
from chaos.mutations import mutate
from topshap.games import TableGame

if TYPE_CHECKING:
    from pathlib import Path

STRANGE: list[Any] = [
    None, True, -1, 0, 1e308, -1e-320, 10**400, "nan", "inf", "\x1b[2J", "\ud800", "", [], [[]], {}, [None], ["x"] * 3,
    {"a": [1]}, [[1.0, 2.0]], 2**63, "9" * 5000, [1e400], ["inf"] * 12,
]  # fmt: skip


def saved_results(rng: np.random.Generator, folder: Path) -> None:
    """Load and show damaged results."""
    options: Any = {"player_names": [f"p{i}" for i in range(N_PLAYERS)]} if rng.random() < 0.5 else {}
    if rng.random() < 0.3:
        options |= {"epsilon": 0.3, "guarantee": "credible"}
    top = topshap.identify(values_of, N_PLAYERS, k=3, budget=60, random_state=int(rng.integers(99)), **options)
    if rng.random() < 0.4:
        values = [[1.5, "a", None, *range(N_PLAYERS - 3)]] * 4
        tops = topshap.Explanations([top] * 4, data=values, row_names="abcd")
        if rng.random() < 0.5:
            tops = topshap.Explanations([top] * 4, data=values[:2], output_names=["x", "y"])
        tops.save(folder / "top.json")
    else:
        top.save(folder / "top.json")
    data = (folder / "top.json").read_bytes()
    for i in range(30):
        changed = mutate(data, rng) if rng.random() < 0.4 else _with_strange_fields(json.loads(data), rng)
        (folder / f"{i}.json").write_bytes(changed)
    run("chaos.files:load_all", folder, memory=4 * GIBIBYTE)


def _with_strange_fields(content: Any, rng: np.random.Generator) -> bytes:
    """Return JSON with some values, at any depth, replaced, removed or added."""
    for _ in range(int(rng.integers(1, 3))):
        at, name = content, list(content)[rng.integers(len(content))]
        while isinstance(at[name], dict | list) and at[name] and rng.random() < 0.6:
            at = at[name]
            name = list(at)[rng.integers(len(at))] if isinstance(at, dict) else int(rng.integers(len(at)))
        kind = rng.random()
        if kind < 0.7:
            at[name] = _strange(rng)
        elif kind < 0.85:
            del at[name]
        elif isinstance(at, dict):
            at["\x1b]0;new\x07"] = 1
        else:
            at.insert(0, _strange(rng))
    return json.dumps(content).encode()


def _strange(rng: np.random.Generator) -> Any:
    """Return a copy of a strange value, which may then be changed itself."""
    return copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])


def load_all(folder: Path) -> None:
    """Load and show all results of the folder in a child process."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)
    for path in sorted(folder.glob("[0-9]*.json")):
        sys.stderr.write(f"{path.read_bytes()[:200]!r}\n")
        try:
            top = topshap.load(path)
        except topshap.ParameterError as error:
            assert "\x1b" not in str(error), error
        else:
            check_printable(str(top))
            players = np.sort(top.players, axis=-1)
            assert (np.diff(players, axis=-1) > 0).all()
            assert players.shape[-1] == top.k <= top.n_players
            top.save(folder / "again.json")
            assert topshap.load(folder / "again.json").estimates.tobytes() == top.estimates.tobytes()
        check_command(["show", str(path)])


def tables(rng: np.random.Generator, folder: Path) -> None:
    """Select and explain columns of damaged tables."""
    for i in range(6):
        path = folder / f"{i}{rng.choice(['.csv', '.csv.gz', '.parquet'])}"
        _write_table(path, rng)
        data = path.read_bytes()
        if path.suffix == ".gz" and rng.random() < 0.7:
            path.write_bytes(gzip.compress(mutate(gzip.decompress(data), rng)))
        else:
            path.write_bytes(mutate(data, rng))
    run("chaos.files:use_tables", folder, memory=6 * GIBIBYTE, seed=int(rng.integers(1000)))


def _write_table(path: Path, rng: np.random.Generator) -> None:
    import pandas as pd  # noqa: PLC0415 - slow to import

    rows = int(rng.integers(10, 30))
    frame = pd.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(4)})
    frame["colour"] = rng.choice(["red", "green", "blue", "\x1b[31m", ""], size=rows)
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(1000, size=rows), unit="D")
    frame["y"] = rng.integers(2, size=rows) if rng.random() < 0.5 else rng.normal(size=rows)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)


def use_tables(folder: Path, seed: int) -> None:
    """Use all tables of the folder in a child process."""
    warnings.simplefilter("ignore")  # those of scikit-learn, about odd columns
    rng = np.random.default_rng(seed)
    for path in sorted(folder.glob("[0-9]*")):
        sys.stderr.write(f"{path.name}\n")
        options = [str(path), "--target", "y", "-k", "2", "--budget", "8", "--model", "linear"]
        if rng.random() < 0.5:
            out = check_command(["select", *options, "--folds", "2"])
        else:
            out = check_command(["explain", *options, "--row", str(rng.integers(12))])
        assert not out or "Top " in out or "has " in out, out


def archives(rng: np.random.Generator, folder: Path) -> None:
    """Load damaged archives of tables of values, and archives with strange arrays."""
    values = rng.normal(size=2**5)
    TableGame(values, player_names=list("abcde")).save(folder / "game.npz")
    data = (folder / "game.npz").read_bytes()
    for i in range(40):
        strange = rng.random() < 0.3
        content = _strange_archive(rng) if strange else mutate(data, rng)
        (folder / f"{'strange' if strange else 'mutated'}-{i}.npz").write_bytes(content)
    run("chaos.files:load_archives", folder, memory=4 * GIBIBYTE, values=values.tolist())


def _strange_archive(rng: np.random.Generator) -> bytes:
    arrays: list[Any] = [
        np.zeros(3), np.zeros((2, 2)), np.array(1.0), np.array([]), np.array([np.nan] * 4), np.array([1e308] * 4),
        np.array(["a", "b"]), np.array([1j, 2j]), np.zeros(4, dtype=[("a", float)]), np.array([{}] * 4, dtype=object),
        np.zeros(4, dtype="M8[s]"), np.zeros(4, dtype="V8"), np.array([5e-324] * 4), np.zeros(2, dtype=bool),
    ]  # fmt: skip
    file = io.BytesIO()
    chosen = {"values": arrays[rng.integers(len(arrays))]}
    if rng.random() < 0.5:
        chosen["player_names"] = arrays[rng.integers(len(arrays))]
    np.savez(file, **chosen)
    return file.getvalue()


def load_archives(folder: Path, values: list[float]) -> None:
    """Load all archives of the folder in a child process."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)
    for path in sorted(folder.glob("*-*.npz")):
        sys.stderr.write(f"{path.name}\n")
        try:
            game = TableGame.load(path)
            assert path.name.startswith("strange") or game.values.tolist() == values, f"wrong values from {path}"
            assert np.isfinite(game.values).all()
            found = topshap.identify(game, k=1, random_state=0)
            assert found.players.shape[-1] == 1  # a table may have several outputs, each with its top k
        except topshap.TopshapError as error:
            check_printable(str(error))


def large_files(rng: np.random.Generator, folder: Path) -> None:
    """Read small files that are large once uncompressed, with too little memory for them."""
    kind = rng.choice(4, p=[0.3, 0.3, 0.3, 0.1])  # the archive takes longest to write
    if kind == 0:
        path = folder / "zeros.csv.gz"
        line = gzip.compress(b"0,0\n" * 2**24)  # 64 MiB
        path.write_bytes(gzip.compress(b"x,y\n") + line * 40)
    elif kind == 1:
        path = folder / "wide.csv"
        path.write_text("y," + ",".join(f"x{i}" for i in range(300_000)) + "\n")
    elif kind == 2:
        path = folder / "field.csv"
        path.write_text("x,y\n1,2\n" + "9" * 300_000 + ",1\n3,4\n")
    else:
        path = folder / "zeros.npz"
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("values.npy", "w", force_zip64=True) as entry,
        ):
            np.lib.format.write_array_header_1_0(
                entry, {"descr": "<f8", "fortran_order": False, "shape": (2 ** int(rng.integers(28, 60)),)}
            )
            for _ in range(33):
                entry.write(bytes(2**26))
    run("chaos.files:use_large", folder, memory=5 * GIBIBYTE, name=path.name)


def use_large(folder: Path, name: str) -> None:
    """Use a file in a child process."""
    path = folder / name
    if path.suffix == ".npz":
        try:
            TableGame.load(path)
        except topshap.ParameterError as error:
            check_printable(str(error))
        else:
            raise AssertionError("an archive of 2 GiB was read")
        return
    check_command(["select", str(path), "--target", "y", "-k", "1", "--folds", "2", "--budget", "4"])
