"""Runs a chain in a folder: starts it, lets it die at a named point, starts it again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from pytest_soulmem.archive import crash
from pytest_soulmem.archive.clock import Clock
from pytest_soulmem.archive.subject import Subject
from pytest_soulmem.users_code import Misbehaviour

Opener: TypeAlias = Callable[[Path, Clock], Subject]
"""Starts a chain on a folder."""


class Host:
    """The process, as it were, that a chain lives in."""

    def __init__(self, open_chain: Opener, folder: Path, clock: Clock | None = None) -> None:
        self._open = open_chain
        self._folder = folder
        self.clock = clock or Clock()
        folder.mkdir(parents=True, exist_ok=True)
        self.chain = open_chain(folder, self.clock)

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and forget its folder."""
        self.chain.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def twin(self) -> Host:
        """Another host, on a copy of what stands on disk now, at the same time."""
        folder = self._folder.with_name(f"{self._folder.name}-twin")
        shutil.copytree(self._folder, folder)
        return Host(self._open, folder, self.clock)

    def dies(self, point: str, act: Callable[[], object]) -> bool:
        """Let the process die when ``act`` passes a point, and start it again.

        False if the point was not passed: then ``act`` has been done, and nothing died.

        The disk is copied at the point, and that copy is what the next process finds. So neither
        a ``finally`` of the chain nor closing its files can tidy up what a dead process would
        have left.
        """
        image = self._folder.with_name(f"{self._folder.name}-image")

        def passed(name: str) -> None:
            if name == point and not image.exists():
                shutil.copytree(self._folder, image)
                raise crash.Crash(point)

        self.chain.watch(passed)
        try:
            act()
        except crash.Crash:
            pass
        except Misbehaviour:
            # Whatever a chain makes of the crash, it is dead already.
            if not image.exists():
                raise
        finally:
            self.chain.watch(crash.nothing)
        if not image.exists():
            return False
        self.chain.close()
        shutil.rmtree(self._folder)
        image.rename(self._folder)
        self.chain = self._open(self._folder, self.clock)
        return True

    def fails_to_look_up(self, act: Callable[[], Any]) -> tuple[Any, bool]:
        """What ``act`` returns when the look-up of references fails, and whether one did."""
        failed = False

        def passed(name: str) -> None:
            nonlocal failed
            if name == crash.LOOKUP:
                failed = True
                raise OSError("the look-up of references fails here")

        self.chain.watch(passed)
        try:
            return act(), failed
        finally:
            self.chain.watch(crash.nothing)
