"""A fingerprint says that two games are the same one: the same value for every coalition, in another process too.

A store of evaluations belongs to one game and is told apart from others by the game's fingerprint. So a fingerprint has
to change whenever a value might, and none is better than a wrong one: `fingerprint_of` gives None where something is
not seen through, for example a socket inside a model. Then the user names the game: every game of this package that
holds something of the user's own takes the option ``fingerprint``.

What is looked at: numbers, texts, arrays, frames, sets, and whatever pickle could take apart, down to the arrays inside
a fitted model. Functions and classes of installed packages count by name and the package's version. A function of the
user's own counts by its compiled code, its defaults, and all variables from outside that it uses, by their values: a
lambda around a fitted model is seen through, a function that uses a module of the user's own is not. Compiled code
differs between versions of Python, and so does such a fingerprint.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import operator
import sys
import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np

from topshap.core.validation import refuse

_SCHEME = "topshap-game-1"
"""Part of every fingerprint, so that another way to make them never meets this one."""


def fingerprint_of(kind: str, **parts: Any) -> str | None:
    """Return 64 hexadecimal digits for a kind of game and its named parts, None if a part is not seen through.

    Parameters
    ----------
    kind
        What it is, for example the name of the game's class.
    **parts
        Everything that the values depend on.

    Examples
    --------
    >>> same = [fingerprint_of("additive", weights=np.array([1.0, 2.0])) for _ in range(2)]
    >>> len(same[0]), same[0] == same[1]
    (64, True)
    >>> fingerprint_of("additive", weights=np.array([1.0, 2.5])) == same[0]
    False
    >>> print(fingerprint_of("opaque", part=iter(sys.stdin)))
    None
    """
    digest = _Digest()
    try:
        digest.add((_SCHEME, kind, parts))
    except _NotSeenThrough:
        return None
    return digest.hexdigest()


def check_fingerprint(fingerprint: Any) -> str | None:
    """Return a name that the user gave to a game, None if there is none."""
    if fingerprint is not None and not (isinstance(fingerprint, str) and fingerprint):
        refuse("fingerprint", fingerprint, must_be="a text that names this game and no other, or None")
    return fingerprint


class _NotSeenThrough(Exception):  # noqa: N818 - never leaves this module
    """A part whose content cannot be looked at."""


class _Digest:
    """A sha256 of nested parts, each preceded by its kind and length, so that no two structures read alike."""

    def __init__(self, inside: list[int] | None = None) -> None:
        self._hash = hashlib.sha256()
        self._inside = [] if inside is None else inside  # ids of what is being looked at: it may contain itself

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def add(self, part: Any) -> None:
        """Take a part in, whatever it is."""
        if self._add_plain(part) or self._add_array(part):
            return
        if id(part) in self._inside:
            self._write("again", str(len(self._inside) - self._inside.index(id(part))))
            return
        self._inside.append(id(part))
        try:
            if not (self._add_container(part) or self._add_frame(part) or self._add_code_of(part)):
                self._add_object(part)
        except RecursionError:
            raise _NotSeenThrough from None
        finally:
            self._inside.pop()

    def _write(self, kind: str, content: bytes | str) -> None:
        content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self._hash.update(f"<{kind} {len(content)}>".encode())
        self._hash.update(content)

    def _add_all(self, kind: str, parts: list[Any] | tuple[Any, ...]) -> None:
        self._write(kind, str(len(parts)))
        for part in parts:
            self.add(part)

    def _add_unordered(self, kind: str, parts: list[Any]) -> None:
        """Take parts in by the order of their own digests: sets have none, and that of a mapping says nothing."""
        digests = []
        for part in parts:
            digest = _Digest(self._inside)
            digest.add(part)
            digests.append(digest.hexdigest())
        self._write(kind, "".join(sorted(digests)))

    def _add_plain(self, part: Any) -> bool:
        if part is None or part is Ellipsis or isinstance(part, bool):
            self._write("constant", repr(part))
        elif type(part) in (int, float, complex):
            self._write(type(part).__name__, repr(part))
        elif type(part) is str:
            self._write("text", part)
        elif isinstance(part, bytes | bytearray):
            self._write("bytes", bytes(part))
        else:
            return False
        return True

    def _add_array(self, part: Any) -> bool:
        if hasattr(part, "detach") and hasattr(part, "cpu"):  # a torch tensor
            part = part.detach().cpu().numpy()
        if not isinstance(part, np.ndarray | np.generic) or isinstance(part, np.ma.MaskedArray):
            return False
        array = np.asarray(part)
        self._write("array", f"{array.dtype.str} {array.shape}")
        if array.dtype.names:  # field by field, since what lies between them is not defined
            for name in array.dtype.names:
                self._add_all(name, [np.ascontiguousarray(array[name])])
        elif array.dtype.hasobject:
            self._add_all("objects", array.ravel().tolist())
        else:
            self._write("numbers", np.ascontiguousarray(array).tobytes())
        return True

    def _add_container(self, part: Any) -> bool:
        if type(part) in (tuple, list):
            self._add_all(type(part).__name__, part)
        elif type(part) is dict or isinstance(part, types.MappingProxyType):
            self._add_unordered("mapping", [(key, part[key]) for key in part])
        elif isinstance(part, AbstractSet) and not isinstance(part, Mapping):
            self._add_unordered("set", list(part))
        else:
            return False
        return True

    def _add_frame(self, part: Any) -> bool:
        """Add a frame or a column of a data frame library by its names, dtypes and values, whatever its layout."""
        package, name = type(part).__module__.partition(".")[0], type(part).__name__
        match package, name:
            case "pandas", "DataFrame":
                self._add_all("pandas frame", list(part.items()))
            case "polars", "DataFrame":
                self._add_all("polars frame", part.get_columns())
            case "pyarrow", "Table":
                self._add_all("pyarrow frame", list(zip(part.column_names, part.columns, strict=True)))
            case (("pandas" | "polars"), "Series"):
                categories = list(getattr(part.dtype, "categories", ())) if package == "pandas" else []
                self._add_all(f"{package} column", [str(part.name), str(part.dtype), categories])
                self.add(part.to_numpy() if isinstance(part.dtype, np.dtype) else part.to_list())
            case "pyarrow", "ChunkedArray":
                values = part.combine_chunks()
                categories = values.dictionary.to_pylist() if hasattr(values, "dictionary") else []
                self._add_all("pyarrow column", [str(part.type), categories])
                self._add_all("values", [np.asarray(part.is_null()), np.asarray(part.drop_null())])
            case _:
                return False
        return True

    def _add_code_of(self, part: Any) -> bool:
        """Take in a module, class or function: what is installed by its name and version, all else by its code."""
        if isinstance(part, types.ModuleType):
            if not _is_installed(part.__name__):
                raise _NotSeenThrough
            self._write("module", f"{part.__name__} {_version(part.__name__)}")
        elif isinstance(part, type | types.FunctionType | types.BuiltinFunctionType | np.ufunc) and _is_known(part):
            self._write("named", f"{_module(part)}.{part.__qualname__} {_version(_module(part))}")
        elif isinstance(
            part, functools.partial | types.MethodType | types.CellType | property | classmethod | staticmethod
        ):
            self._add_all(str(type(part)), _inside(part))
        elif isinstance(part, type):
            content = {key: value for key, value in vars(part).items() if key not in _NOT_BEHAVIOUR}
            self._add_all("class", [part.__qualname__, part.__bases__, content])
        elif isinstance(part, types.FunctionType):
            used = {name: part.__globals__[name] for name in _globals_of(part.__code__) if name in part.__globals__}
            self._add_all("function", [part.__code__, part.__defaults__, part.__kwdefaults__, part.__closure__, used])
        elif isinstance(part, types.CodeType):
            names = [part.co_names, part.co_varnames, part.co_freevars]
            self._add_all("code", [*sys.version_info[:2], part.co_code, part.co_consts, *names])
        else:
            return False
        return True

    def _add_object(self, part: Any) -> None:
        """Take in an object by its own fingerprint, or else as pickle would: its class, arguments and state."""
        own = getattr(part, "fingerprint", _ABSENT)
        if own is None:
            raise _NotSeenThrough
        if isinstance(own, str):
            self._write("fingerprint", own)
            return
        if hasattr(
            part, "get_arrays"
        ):  # scikit-learn's ball and k-d trees, whose state counts how often they were used
            self._add_all("tree", [type(part), *map(np.asarray, part.get_arrays())])
            return
        try:
            reduced = part.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - whatever it says, the object does not show what it holds
            raise _NotSeenThrough from None
        if isinstance(reduced, str):  # the name of a constant
            self._write("constant", f"{_module(part) or _module(type(part))}.{reduced}")
        elif isinstance(part, Iterator):  # to look at it may use it up
            raise _NotSeenThrough
        else:
            make_and_state, (elements, items) = reduced[:3], (*reduced[3:5], None, None)[:2]
            self._add_all("object", [*make_and_state, list(elements or ()), list(items or ())])


_ABSENT = object()
_NOT_BEHAVIOUR = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__", "_abc_impl"]
)


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", None) or "")


def _version(module: str) -> str:
    version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", "")
    return version if isinstance(version, str) else ""


@functools.cache
def _is_installed(module: str) -> bool:
    """Return whether a module belongs to Python, to this package, or to an installed one that has a version."""
    root = module.partition(".")[0]
    if root in ("builtins", "topshap") or root in sys.stdlib_module_names:
        return True
    path = Path(getattr(sys.modules.get(root), "__file__", None) or "")
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


def _is_known(thing: Any) -> bool:
    """Return whether a function or class is what stands under its name in an installed package."""
    module = _module(thing) or ("numpy" if isinstance(thing, np.ufunc) else "builtins")
    if not _is_installed(module):
        return False
    try:
        return operator.attrgetter(thing.__qualname__)(sys.modules[module]) is thing
    except (AttributeError, KeyError):
        return False


def _globals_of(code: types.CodeType) -> set[str]:
    """Return the names that code, and the functions defined in it, look up outside."""
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_globals_of(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _inside(part: Any) -> list[Any]:
    """Return what a thin wrapper around a function, or a variable that it uses, consists of."""
    match part:
        case functools.partial():
            return [part.func, part.args, part.keywords]
        case types.MethodType():
            return [part.__func__, part.__self__]
        case property():
            return [part.fget, part.fset, part.fdel]
        case types.CellType():
            try:
                return [part.cell_contents]
            except ValueError:  # a variable that has no value yet
                raise _NotSeenThrough from None
        case _:
            return [part.__func__]
