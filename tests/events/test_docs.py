"""What docs/events.md says, run."""

import re
from pathlib import Path

from events.samples import DOCUMENT
from pytest_soulmem.events.fixture import LAW_NAMES
from pytest_soulmem.events.laws import LAWS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "events.md").read_text(encoding="utf-8")


def test_the_example_reducer_passes_the_document_and_its_laws(pytester):
    (example,) = re.findall(r"```python\n(# conftest.py\n.*?)```", PAGE, re.DOTALL)
    pytester.makeconftest(example)
    folder = pytester.mkdir("events")
    (folder / "model.json").write_bytes(DOCUMENT.read_bytes())
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=16)
    result.stdout.fnmatch_lines(["reducer: conftest.reduce"])


def test_every_law_is_listed_with_its_statement():
    for name in LAW_NAMES:
        assert f"| `{name}` | {LAWS[name].statement} |" in PAGE
