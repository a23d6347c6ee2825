"""The archive file: media, documents, and scenarios over them, checked but not yet run."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct

from pytest_soulmem.archive.crash import CRASH_POINTS
from pytest_soulmem.archive.rendering import Media, placeholder_faults
from pytest_soulmem.archive.steps import (
    OF_ONE_STEP,
    STEP_TYPES,
    Archive,
    CrashAt,
    Describe,
    Expect,
    Put,
    Recall,
    Step,
    Text,
    Transfer,
    TripleSpec,
)
from pytest_soulmem.archive.terms import OWNER_KINDS
from pytest_soulmem.cases import BrokenCase, faults_of, law_faults, read_cases
from pytest_soulmem.decoding import NonNegative, decode
from pytest_soulmem.faults import Fault, FixtureError, suggestion

LAW_NAMES = (
    "referenced-stays",
    "gone-only-if-written",
    "marked-media-recalled",
    "archived-media-kept",
    "counts-equal-references",
    "names-stay",
    "recovery-idempotent",
    "crash-all-or-nothing",
)


class MediaSpec(Struct, frozen=True):
    """A media: its content as text or in base64."""

    name: Text
    mime: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+$")]
    text: str | None = None
    base64: str | None = None
    description: str = ""


class DocumentSpec(Struct, frozen=True):
    """A document: its text, and what the extractor finds in it."""

    name: Text
    text: str
    triples: tuple[TripleSpec, ...] = ()


class Config(Struct, frozen=True):
    """What steps that collect go by, where they do not say."""

    min_age_hours: NonNegative = 24.0
    capacity_bytes: Annotated[int, Meta(ge=0)] | None = None


class Scenario(Struct, frozen=True):
    """A case: steps that are run on a fresh chain."""

    name: str
    steps: tuple[Step, ...]
    description: str = ""


class RawScenario(Struct, frozen=True):
    """A case, its steps not yet read."""

    name: str
    steps: Annotated[tuple[object, ...], Meta(min_length=1)]
    description: str = ""


class ArchiveDocument(Struct, frozen=True):
    """An archive file, its scenarios not yet read."""

    name: str
    description: str
    test_cases: Annotated[tuple[object, ...], Meta(min_length=1)]
    media: tuple[MediaSpec, ...] = ()
    documents: tuple[DocumentSpec, ...] = ()
    config: Config = Config()
    laws: dict[str, object] = {}


@dataclass(frozen=True)
class Cast:
    """The media and documents of a file, by name."""

    media: Mapping[str, Media] = field(default_factory=dict)
    documents: Mapping[str, DocumentSpec] = field(default_factory=dict)
    config: Config = field(default_factory=Config)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {media.digest: media.name for media in self.media.values()}

    def media_name(self, digest: str) -> str:
        """How the file calls a media."""
        return self._names.get(digest, f"unknown media {digest[:12]}")

    @property
    def told(self) -> object:
        """All of it as plain data, for a digest."""
        media = [(own.name, own.mime, own.digest, own.description) for own in self.media.values()]
        return media, list(self.documents.values()), self.config

    def media_names(self, digests: Iterable[str]) -> str:
        """Several of them as text."""
        return ", ".join(sorted(map(self.media_name, digests))) or "none"


@dataclass(frozen=True)
class ArchiveFile:
    """An archive file that was checked."""

    path: Path
    cast: Cast
    cases: tuple[Scenario | BrokenCase, ...]
    laws: tuple[str, ...] = LAW_NAMES


def load_archive_file(path: Path, document: object) -> ArchiveFile:
    """Check a decoded archive file and every scenario.

    Raises:
        FixtureError: the file cannot be used; lists every fault of it, those of its cases too.
            Faults of single cases alone raise nothing: they come back as broken cases.
    """
    file, faults = decode(document, ArchiveDocument, "$")
    fields = document if isinstance(document, dict) else {}
    faults += law_faults(fields.get("laws"), LAW_NAMES)
    cast, cast_faults = _read_cast(fields)
    faults += cast_faults
    raw_cases = fields.get("test_cases")
    reader = _Reader(cast)
    cases = tuple(read_cases(raw_cases if isinstance(raw_cases, list) else [], reader.scenario))
    if faults or file is None:
        raise FixtureError(path, [*faults, *faults_of(cases)])
    laws = tuple(law for law in LAW_NAMES if law not in file.laws)
    return ArchiveFile(path, Cast(cast.media, cast.documents, file.config), cases, laws)


# Media and documents


def _read_cast(fields: Mapping[str, object]) -> tuple[Cast, list[Fault]]:
    """What decodes of the media and documents, and what is wrong beyond decoding."""
    faults: list[Fault] = []
    specs = _named(fields.get("media"), MediaSpec, "$.media", faults)
    media: dict[str, Media] = {}
    contents: dict[bytes, str] = {}
    for place, spec in specs:
        data = _content(spec, place, faults)
        twin = contents.setdefault(data, spec.name)
        if twin != spec.name and data:
            faults.append(Fault(place, f'its content is that of "{twin}"; one media, one name'))
        media[spec.name] = Media(spec.name, spec.mime, data, spec.description)
    documents: dict[str, DocumentSpec] = {}
    for place, document in _named(fields.get("documents"), DocumentSpec, "$.documents", faults):
        documents[document.name] = document
        faults += _placeholders(document.text, f"{place}.text", media)
        faults += _triple_faults(document.triples, f"{place}.triples", media)
    return Cast(media, documents), faults


def _named(raw: object, kind: type[Any], place: str, faults: list[Fault]) -> list[tuple[str, Any]]:
    """The usable ones of an array of things with names; the file tells what does not decode."""
    found: dict[str, tuple[str, Any]] = {}
    for position, item in enumerate(raw if isinstance(raw, list) else []):
        here = f"{place}[{position}]"
        value, _ = decode(item, kind, here)
        if value is None:
            # Whoever names it should not be told that it does not exist.
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                value = _stand_in(kind, item["name"])
            else:
                continue
        if value.name in found:
            message = f'the name "{value.name}" is taken by {found[value.name][0]}'
            faults.append(Fault(f"{here}.name", message))
        else:
            found[value.name] = (here, value)
    return list(found.values())


def _stand_in(kind: type[Any], name: str) -> Any:
    if kind is MediaSpec:
        return MediaSpec(name, "unusable/unusable", text=f"\0{name}")
    return DocumentSpec(name, "")


def _content(spec: MediaSpec, place: str, faults: list[Fault]) -> bytes:
    if (spec.text is None) == (spec.base64 is None):
        found = "none of them" if spec.text is None else "both"
        faults.append(Fault(place, f"expected exactly one of text, base64; found {found}"))
        return spec.name.encode()
    if spec.base64 is None:
        return (spec.text or "").encode()
    try:
        return base64.b64decode(spec.base64, validate=True)
    except (binascii.Error, ValueError) as error:
        faults.append(Fault(f"{place}.base64", f"not base64: {error}"))
        return spec.name.encode()


def _placeholders(text: str, place: str, media: Mapping[str, object]) -> Iterator[Fault]:
    for message in placeholder_faults(text, media):
        yield Fault(place, message)


def _triple_faults(
    triples: Sequence[TripleSpec], place: str, media: Mapping[str, object]
) -> Iterator[Fault]:
    for position, triple in enumerate(triples):
        for name in ("subject", "object", "sentence"):
            text = getattr(triple, name) or ""
            yield from _placeholders(text, f"{place}[{position}].{name}", media)


# Scenarios


class _Reader:
    """Reads scenarios against the media and documents of their file."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast

    def scenario(self, raw: object, place: str) -> tuple[Scenario | None, list[Fault]]:
        """A case of the file."""
        case, faults = decode(raw, RawScenario, place)
        fields = raw if isinstance(raw, dict) else {}
        raw_steps = fields.get("steps")
        steps: list[Step] = []
        for position, raw_step in enumerate(raw_steps if isinstance(raw_steps, list) else []):
            step, step_faults = self._step(raw_step, f"{place}.steps[{position}]")
            faults += step_faults
            if step is not None:
                steps.append(step)
                faults += self._order_faults(steps, f"{place}.steps[{position}]")
        if case is None or faults:
            return None, faults
        return Scenario(case.name, tuple(steps), case.description), []

    def _step(self, raw: object, place: str) -> tuple[Step | None, list[Fault]]:
        kind, faults = _kind_of_step(raw, place)
        if kind is None or not isinstance(raw, dict):
            return None, faults
        step, faults = decode(raw, STEP_TYPES[kind], place)
        faults += _foreign_fields(raw, kind, place)
        if step is None:
            return None, faults
        faults += self._unknown_names(step, place)
        faults += self._expect_faults(raw.get("expect"), step, place)
        if isinstance(step, CrashAt):
            during, more = self._crash_faults(raw.get("during"), step, place)
            step = msgspec.structs.replace(step, during=during)
            faults += more
        return (None if faults else step), faults

    def _crash_faults(
        self, raw: object, step: CrashAt, place: str
    ) -> tuple[Step | None, list[Fault]]:
        during, faults = self._step(raw, f"{place}.during")
        if step.point not in CRASH_POINTS:
            hint = suggestion(step.point, CRASH_POINTS)
            faults.append(Fault(f"{place}.point", f'no crash point is called "{step.point}"{hint}'))
        elif during is not None and during.step != step.point.partition(".")[0]:
            message = f'a step "{during.step}" never passes the point "{step.point}"'
            faults.append(Fault(f"{place}.during", message))
        if during is not None and during.expect != Expect():
            message = "a step that is cut short answers nothing; expect it after the crash"
            faults.append(Fault(f"{place}.during.expect", message))
        return during, faults

    def _unknown_names(self, step: Step, place: str) -> Iterator[Fault]:
        media, documents = self._cast.media, self._cast.documents
        if isinstance(step, Put | Describe):
            yield from _unknown(step.media, media, "media", f"{place}.media")
        if isinstance(step, Transfer | Archive):
            yield from _unknown(step.document, documents, "document", f"{place}.document")
        if isinstance(step, Archive):
            yield from _triple_faults(step.triples or (), f"{place}.triples", media)
        if isinstance(step, Recall):
            yield from _placeholders(step.entity, f"{place}.entity", media)
            yield from _placeholders(step.message or "", f"{place}.message", media)

    def _order_faults(self, steps: Sequence[Step], place: str) -> Iterator[Fault]:
        """A document is archived only after it was made."""
        last = steps[-1]
        if isinstance(last, CrashAt):
            last, place = last.during, f"{place}.during"
        if not isinstance(last, Archive):
            return
        earlier = [step.during if isinstance(step, CrashAt) else step for step in steps[:-1]]
        made = {step.document for step in earlier if isinstance(step, Transfer)}
        if last.document not in made:
            message = f'no step before this one transfers the document "{last.document}"'
            yield Fault(f"{place}.document", message)

    def _expect_faults(self, raw: object, step: Step, place: str) -> Iterator[Fault]:
        place = f"{place}.expect"
        for name in raw if isinstance(raw, dict) else ():
            owner = OF_ONE_STEP.get(name)
            if name not in Expect.__struct_fields__:
                # An expectation that nobody reads would hold whatever happens.
                hint = suggestion(name, Expect.__struct_fields__)
                yield Fault(f"{place}.{name}", f"nothing called `{name}` can be expected{hint}")
            elif owner and owner != step.step:
                yield Fault(f"{place}.{name}", f'only a step "{owner}" answers this')
        media = self._cast.media
        for name in ("bound", "released", "kept", "collected", "recalled", "stored", "files",
                     "references", "reference_counts"):  # fmt: skip
            for own in _given(getattr(step.expect, name)):
                yield from _unknown(own, media, "media", f"{place}.{name}")
        for own in _given(step.expect.documents):
            yield from _unknown(own, self._cast.documents, "document", f"{place}.documents")
        yield from _owner_faults(step.expect, place)
        for name in ("entities", "graph"):
            for text in _texts(_given(getattr(step.expect, name))):
                yield from _placeholders(text, f"{place}.{name}", media)


def _kind_of_step(raw: object, place: str) -> tuple[str | None, list[Fault]]:
    class Tag(Struct):
        step: str

    tag, faults = decode(raw, Tag, place)
    if tag is None:
        return None, faults
    if tag.step not in STEP_TYPES:
        known = ", ".join(STEP_TYPES)
        message = f'no step is called "{tag.step}" ({known}){suggestion(tag.step, STEP_TYPES)}'
        return None, [Fault(f"{place}.step", message)]
    return tag.step, []


_ALL_FIELDS = {name for kind in STEP_TYPES.values() for name in kind.__struct_fields__}


def _foreign_fields(raw: Mapping[str, object], kind: str, place: str) -> Iterator[Fault]:
    """Fields that other steps have: what they ask for would silently not happen."""
    for name in raw:
        if name in _ALL_FIELDS and name not in STEP_TYPES[kind].__struct_fields__:
            yield Fault(f"{place}.{name}", f'a step "{kind}" has no field `{name}`')


def _unknown(name: str, known: Iterable[str], what: str, place: str) -> Iterator[Fault]:
    known = list(known)
    if name not in known:
        yield Fault(place, f'no {what} is called "{name}"{suggestion(name, known)}')


def _given(value: Any) -> Any:
    return () if value is UNSET else value


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from (value,) if isinstance(value, str) else value


def _owner_faults(expect: Expect, place: str) -> Iterator[Fault]:
    if expect.references is UNSET:
        return
    for media, owners in expect.references.items():
        for owner in owners:
            kind, _, name = owner.partition(":")
            here = f"{place}.references.{media}"
            if kind not in OWNER_KINDS:
                known = ", ".join(OWNER_KINDS)
                message = f'no owner is of the kind "{kind}" ({known})'
                yield Fault(here, message + suggestion(kind, OWNER_KINDS))
            elif kind == "graph_sentence" and name:
                yield Fault(here, "sentences have no names; write `graph_sentence` alone")
            elif kind != "graph_sentence" and not name:
                yield Fault(here, f"name the owner: `{kind}:…`")
