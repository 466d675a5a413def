"""Fingerprints of games: equal for games with the same values, also in another process.

A store of evaluations belongs to one game, which it recognises by the game's fingerprint. So a fingerprint must change
whenever a value might, and no fingerprint is better than a wrong one: `fingerprint_of` returns None for a part that
cannot be fingerprinted, such as a socket inside a model. In that case the user names the function: games with a
function or a model from the user have the option ``fingerprint``. The name stands for the function alone; documents,
data, options and players are still hashed.

The hash covers numbers, strings, arrays, frames, sets, and the state of every object that can be pickled, down to the
arrays inside a fitted model. Functions and classes of installed packages are hashed by name and package version. Other
functions are hashed by their bytecode, their defaults and the values of the outside variables they use: a lambda around
a fitted model can be fingerprinted, a function that uses a module from outside of an installed package cannot. Bytecode
differs between versions of Python, and so do the fingerprints of such functions.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import re
import sys
import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from topshap.core.fingerprint_names import is_importable, is_installed, module_of, recorded_name, version_of
from topshap.core.validation import refuse

_SCHEME = "topshap-game-1"
"""Part of every fingerprint, so that another scheme gives different fingerprints."""


def fingerprint_of(kind: str, **parts: Any) -> str | None:
    """Return 64 hexadecimal digits for a kind of game and its named parts, None if a part cannot be fingerprinted.

    Parameters
    ----------
    kind
        The kind of game, for example the name of its class.
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
    except _CannotFingerprint:
        return None
    return digest.hexdigest()


def named_fingerprint_of(kind: str, name: str, **parts: Any) -> str:
    """Return the name that the user gave to the function of a game, and 64 hexadecimal digits for all other parts.

    The name also stands for every other part that cannot be fingerprinted.

    Examples
    --------
    >>> first, second = (named_fingerprint_of("text", "my-model-v1", text=text) for text in ("to be", "or not"))
    >>> first[:12], len(first), first == second
    ('my-model-v1:', 76, False)
    """
    digests = {key: fingerprint_of(kind, part=part) or name for key, part in parts.items()}
    return f"{name}:{fingerprint_of(kind, name=name, **digests)}"


def split_fingerprint(fingerprint: str) -> tuple[str | None, str]:
    """Return the name in a fingerprint of `named_fingerprint_of`, None in any other, and the rest.

    Examples
    --------
    >>> split_fingerprint("my-model-v1:" + 64 * "0")[0]
    'my-model-v1'
    >>> split_fingerprint("my-model-v1")
    (None, 'my-model-v1')
    """
    name, _, digits = fingerprint.rpartition(":")
    return (name, digits) if name and re.fullmatch("[0-9a-f]{64}", digits) else (None, fingerprint)


def check_fingerprint(fingerprint: Any) -> str | None:
    """Return the name that the user gave to the function of a game, None if there is none."""
    if fingerprint is not None and not (isinstance(fingerprint, str) and fingerprint):
        refuse("fingerprint", fingerprint, must_be="a non-empty string that identifies this function, or None")
    return fingerprint


class _CannotFingerprint(Exception):  # noqa: N818 - never leaves this module
    """A part cannot be fingerprinted."""


class _Digest:
    """A SHA-256 of nested parts, each preceded by its kind and length, so that different structures differ."""

    def __init__(self, inside: list[int] | None = None) -> None:
        self._hash = hashlib.sha256()
        self._inside = [] if inside is None else inside  # ids of enclosing parts: a part may contain itself

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def add(self, part: Any) -> None:
        """Add a part of any type."""
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
            raise _CannotFingerprint from None
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
        """Add parts in the order of their digests, for sets and mappings."""
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
        if hasattr(part, "detach") and hasattr(part, "cpu") and not isinstance(part, types.ModuleType | type):
            part = _from_tensor(part)
        if not isinstance(part, np.ndarray | np.generic) or isinstance(part, np.ma.MaskedArray):
            return False
        array = np.asarray(part)
        self._write("array", f"{array.dtype.str} {array.shape}")
        if array.dtype.names:  # field by field, since the padding between them is undefined
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
        """Add a module, class or function: by name and version if it is installed, else by its code."""
        if isinstance(part, types.ModuleType):
            if not is_installed(part.__name__):
                raise _CannotFingerprint
            self._write("module", f"{part.__name__} {version_of(part.__name__)}")
        elif isinstance(part, type | types.FunctionType | types.BuiltinFunctionType | np.ufunc) and is_importable(part):
            self._write("named", f"{recorded_name(part)} {version_of(module_of(part))}")
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
        """Add an object by its own fingerprint, or as pickle would: its class, arguments and state."""
        own = getattr(part, "fingerprint", _ABSENT)
        if own is None:
            raise _CannotFingerprint
        if isinstance(own, str):
            self._write("fingerprint", own)
            return
        if hasattr(part, "get_arrays"):  # a ball or k-d tree of scikit-learn, whose state counts its uses
            self._add_all("tree", [type(part), *map(np.asarray, part.get_arrays())])
            return
        try:
            reduced = part.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - objects raise anything if they cannot be pickled
            raise _CannotFingerprint from None
        if isinstance(reduced, str):  # the name of a constant
            self._write("constant", f"{module_of(part) or module_of(type(part))}.{reduced}")
        elif isinstance(part, Iterator):  # iterating would consume it
            raise _CannotFingerprint
        else:
            make_and_state, (elements, items) = reduced[:3], (*reduced[3:5], None, None)[:2]
            self._add_all("object", [*make_and_state, list(elements or ()), list(items or ())])


_ABSENT = object()
_NOT_BEHAVIOUR = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__", "_abc_impl"]
)


def _globals_of(code: types.CodeType) -> set[str]:
    """Return the global names that are used by code and the functions defined in it."""
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_globals_of(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _from_tensor(tensor: Any) -> Any:
    """Return a torch tensor as an array; numpy has no bfloat16, whose numbers are also in single precision."""
    tensor = tensor.detach().cpu()
    return tensor.float().numpy() if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()


def _inside(part: Any) -> list[Any]:
    """Return the contents of a wrapper around a function, or of a closure's variable."""
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
            except ValueError:  # the variable has no value yet
                raise _CannotFingerprint from None
        case _:
            return [part.__func__]
