"""From bytes to typed structs, collecting every fault with its place.

msgspec stops at the first fault. Here a document that does not convert is examined field by
field, so that one run lists all of them.
"""

from __future__ import annotations

import functools
import json
import math
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Struct

from pytest_soulmem.faults import Fault, FixtureError

T = TypeVar("T")

NonNegative = Annotated[float, Meta(ge=0)]
UnitInterval = Annotated[float, Meta(ge=0, le=1)]


class OneOf(Struct, frozen=True, gc=False):
    """An externally tagged union: one optional field per variant, exactly one of them given."""

    def __post_init__(self) -> None:
        values = msgspec.structs.astuple(self)
        if values.count(UNSET) == len(values) - 1:
            return
        shown = self.__struct_encode_fields__
        given = [name for name, value in zip(shown, values, strict=True) if value is not UNSET]
        found = " and ".join(given) or "none of them"
        raise ValueError(f"expected exactly one of {', '.join(shown)}; found {found}")


@dataclass(frozen=True)
class _Unusable:
    """A JSON value that no field accepts, with the reason: 1e999, half a character, two values."""

    reason: str


class Malformed(Exception):
    """The bytes are not a JSON document."""


def read_json(path: Path) -> object:
    """The JSON document in a file.

    Raises:
        FixtureError: the file cannot be read or is not JSON in UTF-8.
    """
    try:
        # Whoever reads a pipe may wait for ever.
        if not (path.is_file() or path.is_dir()) and path.exists():
            raise FixtureError(path, [Fault("", "cannot be read: not a regular file")])
        return parse_json(path.read_bytes())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FixtureError(path, [Fault("", f"cannot be read: {reason}")]) from None
    except Malformed as error:
        raise FixtureError(path, [Fault("", str(error))]) from None


def parse_json(data: bytes) -> object:
    """Decode UTF-8 JSON, with or without a byte order mark.

    Raises:
        Malformed: says what is wrong, with line and column where there is one.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise Malformed("the file is empty; a JSON document was expected")
    try:
        document = msgspec.json.decode(data)
        if _every_key_once(data, document):
            return document
    except (msgspec.MsgspecError, RecursionError, OverflowError):
        pass
    return _parse_slowly(data)


def _every_key_once(data: bytes, document: object) -> bool:
    """Whether no object repeats a key; false also where that is not plain to see.

    Of equal keys the last one wins, and takes a colon with it: written out again, the document
    has as many colons as before if it lost nothing.
    """
    if b"\\u003a" in data or b"\\u003A" in data:  # A colon in disguise.
        return False
    return data.count(b":") == msgspec.json.encode(document).count(b":")


def _parse_slowly(data: bytes) -> object:
    """Decode what msgspec refuses or repeats a key: with a message, or marking single values."""

    def number(literal: str) -> float | _Unusable:
        value = float(literal)
        return value if math.isfinite(value) else _Unusable(f"{literal} is not a finite number")

    def integer(literal: str) -> int | _Unusable:
        try:
            return int(literal)
        except ValueError:  # Python's guard against texts that take long to convert.
            reason = f"an integer of {len(literal.lstrip('-'))} digits is too long to be read"
            return _Unusable(f"{reason}; if it is an id or a text, put it in quotes")

    def constant(literal: str) -> NoReturn:
        raise Malformed(f"not JSON: {literal} is not a JSON number")

    encoding = json.detect_encoding(data)
    if encoding != "utf-8":
        raise Malformed(f"not UTF-8 (it looks like {encoding.upper()}); save the file as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    try:
        document = json.loads(
            text,
            parse_float=number,
            parse_int=integer,
            parse_constant=constant,
            object_pairs_hook=_mark_repeated,
        )
        return _mark_surrogates(document)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"not JSON: {error.msg} ({place})") from None
    except RecursionError:
        raise Malformed("not usable: nested too deeply") from None


def _mark_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        for key, times in Counter(key for key, _ in pairs).items():
            if times > 1:
                members[key] = _Unusable(f"given {times} times; keep one")
    return members


_SURROGATE = re.compile("[\ud800-\udfff]")


def _mark_surrogates(value: object) -> object:
    if isinstance(value, str) and (found := _SURROGATE.search(value)):
        return _Unusable(f"the text holds half a character (\\u{ord(found[0]):x})")
    if isinstance(value, list):
        return [_mark_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_visible(key): _mark_surrogates(item) for key, item in value.items()}
    return value


def _visible(text: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):x}", text)


def decode(raw: object, kind: type[T], place: str) -> tuple[T | None, list[Fault]]:
    """Convert a JSON value to ``kind``: the value (None if it has faults) and the faults.

    ``place`` is where the value stands in its file. A field that the struct does not know is
    ignored, unless it looks like a misspelling of one that is absent.
    """
    try:
        value = msgspec.convert(raw, kind)
    except (msgspec.ValidationError, RecursionError):
        value = None
    if value is None:
        return None, _faults(raw, kind, place)
    has_unknown = _unknown_finder(cast("Any", kind))
    faults = _misspellings(raw, kind, place) if has_unknown and has_unknown(raw) else []
    return (None, faults) if faults else (value, [])


@dataclass(frozen=True)
class _Shape:
    """The parts of a type that can be walked into."""

    struct: type[Struct] | None = None
    item: Any = None


@functools.cache
def _shape(kind: Any) -> _Shape:
    origin = typing.get_origin(kind)
    if origin is Annotated:
        return _shape(typing.get_args(kind)[0])
    if origin in (typing.Union, types.UnionType):
        parts = [_shape(part) for part in typing.get_args(kind)]
        return _Shape(
            struct=next((part.struct for part in parts if part.struct), None),
            item=next((part.item for part in parts if part.item), None),
        )
    if origin in (list, tuple):
        return _Shape(item=typing.get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _Shape(struct=kind)
    return _Shape()


@functools.cache
def _fields(struct: type[Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(struct)}


def _faults(raw: object, kind: Any, place: str) -> list[Fault]:
    """Every fault of a value; at least one for a value that does not convert."""
    if isinstance(raw, _Unusable):
        return [Fault(place, raw.reason)]
    shape = _shape(kind)
    found: list[Fault] = []
    if shape.struct and isinstance(raw, dict):
        misspelt = _misspelt(raw, shape.struct)
        found = _misspelling_faults(misspelt, place)
        for name, field in _fields(shape.struct).items():
            if name in raw:
                found += _faults(raw[name], field.type, f"{place}.{name}")
            # A misspelt field is told once, not again as a missing one.
            elif field.required and name not in misspelt.values():
                found.append(Fault(place, f"the field `{name}` is missing"))
    elif shape.item and isinstance(raw, list):
        for position, item in enumerate(raw):
            found += _faults(item, shape.item, f"{place}[{position}]")
    return found or _own_fault(raw, kind, place)


def _own_fault(raw: object, kind: Any, place: str) -> list[Fault]:
    """The fault of a value whose parts are all in order."""
    try:
        msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        message = str(error).split(" - at `")[0]
        if message.startswith("Invalid enum value"):
            message += f"; expected one of {', '.join(_literals(kind))}"
        return [Fault(place, message[0].lower() + message[1:])]
    except RecursionError:
        return [Fault(place, "nested too deeply")]
    return []


@functools.cache
def _unknown_finder(kind: Any) -> Callable[[Any], bool] | None:
    """Says of a value that converts whether an unknown field is in it; None for a plain type.

    Most values have none, and finding that out is most of the work of looking for misspellings.
    Functions made once per type, because they run for every struct of a graph.
    """
    shape = _shape(kind)
    if shape.struct:
        return _unknown_in_struct(shape.struct)
    find = _unknown_finder(shape.item) if shape.item else None
    if find is None:
        return None

    def in_items(raw: Any) -> bool:
        return isinstance(raw, list) and any(map(find, raw))

    return in_items


def _unknown_in_struct(struct: type[Struct]) -> Callable[[Any], bool]:
    known = frozenset(_fields(struct))
    inner = [
        (name, find)
        for name, field in _fields(struct).items()
        if (find := _unknown_finder(field.type))
    ]

    def in_struct(raw: Any) -> bool:
        if not isinstance(raw, dict):
            return False
        if not raw.keys() <= known:
            return True
        # A loop: with any() it would be half as slow again.
        for name, find in inner:  # noqa: SIM110
            if (value := raw.get(name)) and find(value):
                return True
        return False

    return in_struct


def _literals(kind: Any) -> list[str]:
    """The words that a type admits."""
    if typing.get_origin(kind) is typing.Literal:
        return [str(word) for word in typing.get_args(kind)]
    return [word for part in typing.get_args(kind) for word in _literals(part)]


def _misspellings(raw: object, kind: Any, place: str) -> list[Fault]:
    return [
        fault
        for own, struct, at in _objects(raw, kind, place)
        for fault in _misspelling_faults(_misspelt(own, struct), at)
    ]


_REMARK = re.compile("([^A-Za-z]|(notes?|comments?)$|$)")
"""Names that nobody takes for a field of ours: ``$schema``, ``_note``, ``说明``, ``notes``."""


def unknown_fields(raw: object, kind: Any, place: str) -> list[Fault]:
    """Every field that reading a value as ``kind`` ignores, told as a remark on its writing.

    One that passes for a misspelling is a fault, which :func:`decode` tells; remarks are left
    alone.
    """
    has_unknown = _unknown_finder(kind)
    if has_unknown is None or not has_unknown(raw):
        return []
    found = []
    for own, struct, at in _objects(raw, kind, place):
        known = _fields(struct)
        told = _misspelt(own, struct)
        absent = [name for name in known if name not in own]
        for name in own:
            if name not in known and name not in told and not _REMARK.match(name):
                message = f"unknown field `{name}`, ignored{_field_hint(name, absent)}"
                found.append(Fault(f"{at}.{name}", message))
    return found


def _field_hint(name: str, known: Sequence[str]) -> str:
    # Imported here: most files have no unknown field.
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    # Without substitutions: whoever misses a field's name leaves words out, or adds some.
    scorer = Indel.normalized_similarity
    found = process.extractOne(name, known, scorer=scorer, score_cutoff=0.6)
    return f"; did you mean `{found[0]}`?" if found else ""


def items_of(raw: object, field: str, place: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of a list that is read item by item, each with its place."""
    items = raw.get(field) if isinstance(raw, dict) else None
    for position, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield f"{place}.{field}[{position}]", item


def _objects(
    raw: object, kind: Any, place: str
) -> Iterator[tuple[dict[str, object], type[Struct], str]]:
    """The objects of a value that are read as structs, each with its struct and place."""
    shape = _shape(kind)
    if shape.struct and isinstance(raw, dict):
        yield raw, shape.struct, place
        for name, field in _fields(shape.struct).items():
            if raw.get(name):
                yield from _objects(raw[name], field.type, f"{place}.{name}")
    elif shape.item and isinstance(raw, list):
        for position, item in enumerate(raw):
            yield from _objects(item, shape.item, f"{place}[{position}]")


def _misspelt(raw: dict[str, object], struct: type[Struct]) -> dict[str, str]:
    """Unknown fields within two edits of a known field that is absent: seen -> meant."""
    known = _fields(struct)
    if raw.keys() <= known.keys():
        return {}
    # Imported here: most files have no unknown field.
    from rapidfuzz.distance import Levenshtein

    meant: dict[str, str] = {}
    for unknown in sorted(raw.keys() - known.keys()):
        distances = [
            (Levenshtein.distance(unknown, name), name)
            for name in known
            if name not in raw and name not in meant.values()
        ]
        distance, name = min(distances, default=(math.inf, ""))
        # Two edits turn any two letters into any others: that is no misspelling.
        if distance <= min(2, len(name) - 1):
            meant[unknown] = name
    return meant


def _misspelling_faults(misspelt: dict[str, str], place: str) -> list[Fault]:
    return [
        Fault(place, f"unknown field `{unknown}`; did you mean `{name}`?")
        for unknown, name in misspelt.items()
    ]
