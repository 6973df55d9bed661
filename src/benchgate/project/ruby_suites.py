"""Finds the benchmarks of Ruby."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.build_steps import (
    MOST_PROGRAMS,
    BuildSteps,
    Suite,
)
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.project.build_steps import Value
    from benchgate.project.tree import ProjectTree


_IPS = re.compile(r"""^\s*require ["']benchmark/ips["']|\bBenchmark\.ips\b""", re.MULTILINE)
_WRITTEN = re.compile(r"""\.json!\s*\(?\s*(?:["']([\w./-]+)["']|\w)""")
_GEM = "benchmark-ips"


def ruby_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The scripts that use benchmark-ips."""
    near = (path for path in tree.named("*.rb") if re.search("bench|perf", str(path)))
    scripts = {path: code for path in near if _IPS.search(code := tree.read(path))}
    gems = (tree.read(path) for path in tree.named("Gemfile", "Gemfile.lock", "*.gemspec"))
    bundled = tree.has(PurePosixPath("Gemfile")) and any(_GEM in text for text in gems)
    env = {"BUNDLE_PATH": "{env}/bundle"}
    build = BuildSteps(tools=("ruby",))
    if bundled:
        build = BuildSteps(("bundle install",), env, "the project has dependencies", ("bundle",))
    library = " -Ilib" if any(True for _ in tree.below(PurePosixPath("lib"))) else ""
    ruby = "bundle exec ruby" if bundled else f"ruby{library}"
    for path, code in list(scripts.items())[:MOST_PROGRAMS]:
        written = _WRITTEN.search(code)
        output: dict[str, Value] = {"output": written[1]} if written and written[1] else {}
        last = "" if output else " {output}"
        yield Suite(
            f"the script {path} with benchmarks of {_GEM}",
            {
                "suite": f"{ruby} {shlex.quote(str(path))}{last}",
                **output,
                **({"env": env} if bundled else {}),
            },
            f"The benchmarks of {_GEM}.",
            path,
            build,
            to_edit=() if written else (f"{path} must write its results: x.json! ARGV.fetch(0)",),
        )
    if (more := len(scripts) - MOST_PROGRAMS) > 0:
        tree.note(f"Left out: {counted(more, 'more script')} with benchmarks of {_GEM}.")
