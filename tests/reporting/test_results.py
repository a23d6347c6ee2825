"""The document of a run, and writing it, whatever stands at its place."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import jsonschema
import pytest
from html_samples import results, retrieval_case
from projects import case, queries, sub_query

from pytest_soulmem.reporting.html import render_html
from pytest_soulmem.reporting.results import means_of, results_schema, write_atomically


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_in_a_new_folder_is_readable_by_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.json"
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"old, and longer")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "elsewhere" / "real.json"
    target.parent.mkdir()
    if there:
        target.write_bytes(b"old")
    link, second = tmp_path / "r.json", tmp_path / "s.json"
    second.symlink_to(Path("elsewhere/real.json"))
    link.symlink_to(second)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert second.is_symlink()
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_pipe_stays_and_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "r.json"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"new")
    reader.join(10)
    assert read == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_stays(tmp_path: Path) -> None:
    (tmp_path / "r.json").symlink_to("/dev/null")
    write_atomically(tmp_path / "r.json", b"new")
    assert Path("/dev/null").is_char_device()
    assert (tmp_path / "r.json").is_symlink()


def test_the_standard_output_is_written_into(tmp_path: Path) -> None:
    """Whether it leads to a pipe or to a file, and what is printed besides is not lost."""
    code = (
        "from pathlib import Path\n"
        "from pytest_soulmem.reporting.results import write_atomically\n"
        "print('before', flush=True)\n"
        "write_atomically(Path('/dev/stdout'), b'document\\n')\n"
        "print('after', flush=True)\n"
    )
    command = [sys.executable, "-c", code]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stdout == "before\ndocument\nafter\n"
    path = tmp_path / "out.txt"
    with path.open("w") as file:
        subprocess.run(command, stdout=file, check=True)
    assert path.read_text() == "before\ndocument\nafter\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_or_a_circle_of_links_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "circle.json").symlink_to(tmp_path / "circle.json")
    (tmp_path / "folder.json").mkdir()
    for name in ("circle.json", "folder.json"):
        with pytest.raises(OSError, match=name):
            write_atomically(tmp_path / name, b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["circle.json", "folder.json"]


def negative(name="asks for nothing"):
    found = retrieval_case(name)
    return type(found)(
        **{field: getattr(found, field) for field in found.__struct_fields__}
        | {"figures": {}, "result": found.result | {"negative": True}}
    )


def test_a_negative_case_counts_and_leaves_the_means_alone():
    (mean,) = means_of([retrieval_case(), negative()])
    assert (mean.passed, mean.cases) == (2, 2)
    assert mean.figures == retrieval_case().figures


def test_a_file_of_negative_cases_has_no_figures_to_draw():
    found = results(negative("a"), negative("b"))
    assert [(mean.cases, mean.figures) for mean in found.means] == [(2, {})]
    assert "<td>2/2" in render_html(found).decode()


def test_the_settings_are_those_that_users_know(project):
    project.write("queries/q.json", queries(case()))
    project.run("--soulmem-json=r.json", "--soulmem-k=1", "--html=page.html")
    told = json.loads((project.path / "r.json").read_text("utf-8"))["settings"]
    assert told["k"] == [1]
    assert "rows" not in told


def test_every_sub_query_is_told_and_the_document_keeps_its_schema(project):
    asked = [sub_query(), sub_query("大海")]
    fails = case("喝茶", sub_queries=asked, expected_combined_ranking=["cup", "tea"])
    project.write("queries/q.json", queries(fails, case(), blend_sweep={"tag_sweep": [0.3, 0.5]}))
    project.write("queries/broken.json", {"test_cases": 1})
    project.run("--soulmem-json=r.json", "--soulmem-html=r.html", "--continue-on-collection-errors")
    document = json.loads((project.path / "r.json").read_text("utf-8"))
    jsonschema.validate(document, results_schema(), jsonschema.Draft202012Validator)
    assert [(own["outcome"], len(own["result"]["sub_queries"])) for own in document["cases"]] == [
        ("failed", 2),
        ("failed", 2),
        ("passed", 1),
        ("passed", 1),
    ]
    first, second = document["cases"][0]["result"]["sub_queries"]
    assert (first["q"], first["retrieved"][0]["id"]) == (0, "tea")
    assert (second["q"], second["retrieved"][0]["id"]) == (1, "sea")
    page = (project.path / "r.html").read_text("utf-8")
    drawn = page.partition('id="rankings">')[2].partition("</script>")[0].split("\n")
    assert [json.loads(line)["sub_queries"] for line in drawn] == [
        own["result"]["sub_queries"] for own in document["cases"]
    ]
