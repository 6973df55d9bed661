"""The laboratory that measures how often benchgate is right, run once in small."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.gate.executed import executed
from benchmarks.gate.launches import rounded_ns
from benchmarks.gate.page import DOCS, Sizes, count_again, write_page
from benchmarks.gate.recordings import Recordings
from benchmarks.gate.summary import summary

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_begins_with_what_the_recordings_say() -> None:
    text = summary()
    assert text in (DOCS / "believability.md").read_text(encoding="utf-8")
    assert 3 <= text.count("\n- ") + 1 <= 5
    alarms, builds = re.findall(r"^- (\d+) of ([\d,]+) builds", text)[0]
    assert int(alarms) < int(builds.replace(",", ""))


def test_the_readme_has_the_figures_of_the_recordings() -> None:
    clean, slower = executed("clean-lanes"), executed("3-lanes")
    assert clean is not None
    assert slower is not None
    assert slower.found is not None
    readme = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    assert (
        f"{clean.alarms.hits} of {clean.alarms.trials} checks of unchanged code failed, and "
        f"{slower.found.hits} of {slower.found.trials} checks failed when one workload had 3 % more"
    ) in readme


def test_the_pages_are_made_of_recordings_and_draws(tmp_path: Path) -> None:
    heard: list[str] = []
    few = Sizes(clean=2, slower=2, rules=2, launches=2, stored=6)
    docs = _docs_beside_a_readme(tmp_path)
    write_page(few, processes=1, say=heard.append, folder=docs)
    names = ("believability.md", "believability-tables.md", "believability.svg")
    assert sorted(path.name for path in docs.iterdir()) == sorted(names)
    assert (docs / names[0]).read_bytes() == (DOCS / names[0]).read_bytes()
    made, kept = (
        (folder / names[1]).read_text(encoding="utf-8").split("\n## ") for folder in (docs, DOCS)
    )
    assert [part.partition("\n")[0] for part in made] == [part.partition("\n")[0] for part in kept]
    # What is only counted does not depend on how many builds are drawn.
    equal = {part.partition("\n")[0] for part in made if part in kept}
    counted = {"Builds that were really run", "The same two commits again and again", "Other tools"}
    assert counted <= equal


def test_counting_again_leaves_what_is_drawn_as_it_is(tmp_path: Path) -> None:
    docs = _docs_beside_a_readme(tmp_path)
    names = ("believability.md", "believability-tables.md")
    for name in names:
        text = (DOCS / name).read_text(encoding="utf-8")
        is_tables = name == names[1]
        (docs / name).write_text(text.replace("| clean |", "| before |") if is_tables else "")
    count_again(docs)
    figure = "believability.svg"
    assert (docs / figure).read_bytes() == (DOCS / figure).read_bytes()
    for name in names:
        made, kept = ((folder / name).read_text(encoding="utf-8") for folder in (docs, DOCS))
        drawn = "## Builds made of recorded rounds"
        counted, _, rest = kept.partition(drawn)
        assert made == counted + drawn * bool(rest) + rest.replace("| clean |", "| before |")
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == readme


def _docs_beside_a_readme(folder: Path) -> Path:
    """An empty folder for pages, and README with older figures."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    older = re.sub(r"\d+ of \d+(?= checks of unchanged)", "3 of 4", readme)
    assert older != readme
    (folder / "README.md").write_text(older, encoding="utf-8")
    (folder / "docs").mkdir()
    return folder / "docs"


def test_recordings_are_read_as_they_were_written(tmp_path: Path) -> None:
    one, other = Recordings(tmp_path / "one.parquet"), Recordings(tmp_path / "other.parquet")
    times = {"sort": np.arange(12).reshape(2, 3, 2), "match": np.array([[5], [2**40]])}
    assert one.names() == []
    one.add("b/000", {"about": {"load": 0.5}}, times)
    one.add("a", {"about": {}})
    one.add("b/000", {"about": {"load": 1.5}}, times)
    assert one.names() == ["a", "b/000"]
    assert one.names("b") == ["b/000"]
    assert one.about("b") == [{"load": 1.5}]
    found = one.arrays_ns("b/000")
    assert {key: values.tolist() for key, values in found.items()} == {
        key: values.tolist() for key, values in times.items()
    }
    assert one.arrays_ns("a") == {}
    for name in reversed(one.names()):
        other.add(name, one.document(name), one.arrays_ns(name))
    files = [(tmp_path / f"{name}.parquet").read_bytes() for name in ("one", "other")]
    assert files[0] == files[1]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("median_ns", [1, 3_000, 2_000_000_000])
def test_times_are_rounded_to_much_less_than_any_margin(median_ns: int) -> None:
    times_ns = median_ns * np.random.default_rng(1).lognormal(0, 0.02, (2, 10, 45))
    rounded = rounded_ns(times_ns)
    assert np.abs(rounded - times_ns).max() <= max(0.5, 0.0005 * median_ns)
    assert np.array_equal(rounded_ns(rounded.astype(float)), rounded)


def test_recording_ends_with_its_time() -> None:
    """Its processes are started all the same, one on each CPU."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gate", "record", "--budget", "1ms", "--only", "5-lanes"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in {
        "the time is over; run it again to go on\n",
        "nothing is missing\n",
    }
