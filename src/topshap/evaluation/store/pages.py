"""Reading the rows of a damaged SQLite file page by page, without the trees that connect the pages.

A damaged index or inner page makes SQLite refuse rows that are intact. The format is https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_TABLE_LEAF = 0x0D
_INT_SIZES = (0, 1, 2, 3, 4, 6, 8)
"""The sizes of integers, by their serial types."""


def rows_in(path: Path, columns: int) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Yield the id and the columns of every readable row with this many columns; nothing is verified."""
    with path.open("rb") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18], "big")
        size = 65536 if size == 1 else max(size, 512)
        pages = _Pages(file, size, header[20] if len(header) > 20 else 0)
        for number in count(1):
            page = pages.read(number)
            if not page:
                return
            for cell in _cells(page, 100 if number == 1 else 0):
                try:
                    row, record = pages.record(page, cell)
                    values = _values(record)
                except (IndexError, ValueError, struct.error):
                    continue
                if len(values) == columns:
                    yield row, values


class _Pages:
    """The pages of a file."""

    def __init__(self, file: BinaryIO, size: int, reserved: int) -> None:
        self.file = file
        self.size = size
        self.usable = size - reserved

    def read(self, number: int) -> bytes:
        """Return a page, empty behind the end of the file; the first page has number 1."""
        self.file.seek((number - 1) * self.size)
        return self.file.read(self.size)

    def record(self, page: bytes, start: int) -> tuple[int, bytes]:
        """Return the id and the record of the cell at `start`, including its part on overflow pages."""
        length, start = _varint(page, start)
        row, start = _varint(page, start)
        if length > self.size * 100_000:
            raise ValueError("too long")
        here = self._length_on_page(length)
        record = page[start : start + here]
        following = int.from_bytes(page[start + here : start + here + 4], "big") if here < length else 0
        while following and len(record) < length:
            page = self.read(following)
            if len(page) < self.usable:
                raise ValueError("an overflow page is missing")
            following = int.from_bytes(page[:4], "big")
            record += page[4 : self.usable][: length - len(record)]
        if len(record) < length:
            raise ValueError("cut short")
        return row, record

    def _length_on_page(self, length: int) -> int:
        """Return the number of bytes of a record that are on its own page."""
        most = self.usable - 35
        if length <= most:
            return length
        least = (self.usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.usable - 4)
        return here if here <= most else least


def _cells(page: bytes, header: int) -> list[int]:
    """Return where the cells of a page with rows start; none for other pages."""
    if len(page) < header + 8 or page[header] != _TABLE_LEAF:
        return []
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    pointers = page[header + 8 : header + 8 + 2 * cells]
    return [start for (start,) in struct.iter_unpack(">H", pointers[: len(pointers) // 2 * 2])]


def _values(record: bytes) -> tuple[object, ...]:
    """Return the columns of a record."""
    end, start = _varint(record, 0)
    kinds = []
    while start < end:
        kind, start = _varint(record, start)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, start = _value(record, start, kind)
        values.append(value)
    return tuple(values)


def _value(record: bytes, start: int, kind: int) -> tuple[object, int]:
    """Return the value of a serial type, and where the next one starts."""
    if kind in (8, 9):
        return kind - 8, start
    if kind == 7:
        return struct.unpack_from(">d", record, start)[0], start + 8
    if kind < len(_INT_SIZES):
        end = start + _INT_SIZES[kind]
        return (int.from_bytes(record[start:end], "big", signed=True) if kind else None), end
    end = start + (kind - 12) // 2
    if kind < 12 or end > len(record):
        raise ValueError("not a serial type")
    return record[start:end], end


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Return the integer of variable length at `start`, and where it ends."""
    value = 0
    for i in range(8):
        byte = data[start + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, start + i + 1
    value = value << 8 | data[start + 8]
    return value - (value >> 63 << 64), start + 9
