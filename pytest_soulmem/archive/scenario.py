"""Runs a scenario step by step and judges each step."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_soulmem.archive.fixture import Cast, Scenario
from pytest_soulmem.archive.host import Host, Opener
from pytest_soulmem.archive.judging import owner_text, violations
from pytest_soulmem.archive.play import Answer, Play, Unsupported
from pytest_soulmem.archive.result import Counts, total
from pytest_soulmem.archive.state import State
from pytest_soulmem.archive.steps import Step, in_words
from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.users_code import Misbehaviour

_MEMORY = Path("/dev/shm")  # noqa: S108 - files in memory, where the system has that


@dataclass
class Outcome:
    """What running a scenario found."""

    chain: str = ""
    lines: list[str] = field(default_factory=list)
    """The steps that were done, one line each."""
    failure: Failure | None = None
    skipped: str = ""
    """Why the scenario was not run to its end; empty if it was."""
    counts: Counts = Counts()  # noqa: RUF009 - frozen


def run_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary directory. Every blob is fsynced; in memory that costs nothing."""
    return tempfile.TemporaryDirectory(
        prefix="soulmem-archive-",
        dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None,
        ignore_cleanup_errors=True,
    )


def run_scenario(scenario: Scenario, cast: Cast, open_chain: Opener) -> Outcome:
    """Do the steps on a fresh chain, up to the first that is not as expected.

    Raises:
        Misbehaviour: the chain could not be opened.
    """
    outcome = Outcome()
    with run_folder() as folder, Host(open_chain, Path(folder) / "chain") as host:
        outcome.chain = host.chain.name
        play = Play(host, cast)
        for position, step in enumerate(scenario.steps):
            if not _judged(position, step, play, outcome):
                break
    return outcome


def _judged(position: int, step: Step, play: Play, outcome: Outcome) -> bool:
    """Do and judge a step; whether to go on."""
    words = in_words(step)
    try:
        answer = play.do(step)
        state = play.state()
        broken = list(violations(step.expect, answer, state, play.host.chain, play.cast))
    except Unsupported as reason:
        outcome.skipped = f"steps[{position}] {reason}; it and what follows was not judged"
        return False
    except Misbehaviour as error:
        outcome.failure = _misbehaved(f"steps[{position}] {words}", error, outcome)
        return False
    outcome.counts = total([outcome.counts, _counted(answer)])
    if not broken:
        outcome.lines.append(f"ok      [{position}] {words}")
        return True
    outcome.lines.append(f"FAILED  [{position}] {words}")
    reason_line = f"steps[{position}] {words}: {broken[0]}"
    text = [
        reason_line,
        *(f"  also {line}" for line in broken[1:]),
        f"chain {outcome.chain}",
        "",
        *outcome.lines,
        *_told(answer, play.cast),
        "",
        *_seen(state, play.cast),
    ]
    outcome.failure = Failure(visible(reason_line), "\n".join(map(visible, text)))
    return False


def _misbehaved(where: str, error: Misbehaviour, outcome: Outcome) -> Failure:
    failure = error.failure
    done = ["", "done before:", *outcome.lines] if outcome.lines else []
    text = [f"{visible(where)}:", failure.text, *map(visible, done)]
    return Failure(failure.reason, "\n".join(text))


def _counted(answer: Answer) -> Counts:
    told = answer.archived
    return Counts(
        steps=1,
        documents_archived=int(bool(told and told.gone)),
        documents_kept=int(bool(told and not told.gone)),
        triples_written=told.written if told else 0,
        triples_skipped=told.skipped if told else 0,
        media_bound=len(told.bound) if told else 0,
        media_collected=len(answer.collected or ()),
        references_released=len(told.released) if told else 0,
        references_kept=len(told.kept) if told else 0,
    )


def _told(answer: Answer, cast: Cast) -> list[str]:
    """What the chain said of the last step."""
    names = cast.media_names
    if told := answer.archived:
        kept = ", ".join(f"{cast.media_name(own)} ({why})" for own, why in told.kept.items())
        return [
            f"        told: written {told.written}, skipped {told.skipped}, "
            f"document {'gone' if told.gone else 'kept'}",
            f"        bound {names(told.bound)}; released {names(told.released)}; "
            f"kept {kept or 'none'}",
        ]
    if answer.collected is not None:
        return [f"        told: collected {names(answer.collected)}"]
    return [f"        {entry}: {names(digests)}" for entry, digests in answer.recalled.items()]


def _seen(state: State, cast: Cast) -> list[str]:
    """What the chain holds."""
    lines = [
        "what the chain holds now:",
        f"  documents: {', '.join(sorted(state.documents)) or 'none'}",
    ]
    lines.append(f"  stored: {cast.media_names(state.stored)}")
    if state.files is not None:
        lines.append(f"  files: {cast.media_names(state.files)}")
    lines += [
        f"  {owner_text(reference)} -> {cast.media_name(reference.digest)}"
        for reference in sorted(state.references)
    ]
    rows: list[Any] = sorted({row[:3] for row in state.relations})
    lines += [f"  {subject} -{relation}-> {target}" for subject, relation, target in rows]
    return lines
