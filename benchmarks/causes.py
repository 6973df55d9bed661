"""Makes changes that slow a function of examples/quickstart down, and asks where to look.

Run it with `python -m benchmarks.causes [NAME ...]`: for each change, the first function that
benchgate names is right if the change is in it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart"
CONFIG = '[[benchmark]]\npython = "benchmarks/"\npythonpath = ["src"]\n'


@dataclass(frozen=True)
class Change:
    """A change of one file.

    Attributes:
        benchmark: which one it slows down.
        right: the functions that may be named first.
        edits: by file in `src/textkit`, what replaces what in the head.
        before: the same in the base and in the head.
    """

    benchmark: str
    right: tuple[str, ...]
    edits: dict[str, tuple[str, str]]
    before: tuple[tuple[str, str, str], ...] = ()


SIGNS = """\
    for sign, text in _SIGNS.items():
        title = title.replace(sign, text)
"""
PROPERTY = """\
    size_text: str

    @property
    def size_bytes(self) -> int:
        return int(self.size_text)
"""
LOOP = "        for match in _WORD.finditer(line.lower()):\n"
LEVEL = "_LOG = logging.getLogger(__name__)\n_LOG.addHandler(logging.NullHandler())\n"
CHANGES = {
    "extra calls": Change(
        "text/slugify",
        ("slugify",),
        {"slugs.py": ('"NFKD", title)', '"NFKD", unicodedata.normalize("NFKC", title))')},
    ),
    "lost cache": Change(
        "text/csv_to_json[rows=100]",
        ("_number_or_text",),
        {"tables.py": ("@cache\n", "")},
        (
            ("tables.py", "import json\n", "import json\nfrom functools import cache\n"),
            ("tables.py", "def _number", "@cache\ndef _number"),
        ),
    ),
    "algorithm": Change(
        "text/closest",
        ("_edit_distance",),
        {
            "spelling.py": (
                "current.append(min(previous[j] + 1, current[j - 1] + 1, replaced))",
                "current.append(sorted([previous[j] + 1, current[j - 1] + 1, replaced])[0])",
            )
        },
    ),
    "larger data": Change(
        "text/slugify",
        ("slugify",),
        {"slugs.py": ("range(5)", "range(50)")},
        (
            ("slugs.py", "\n\ndef", "\n_SIGNS = {chr(300 + i): str(i) for i in range(5)}\n\n\ndef"),
            (
                "slugs.py",
                "    ascii_only",
                f"{SIGNS}    ascii_only",
            ),
        ),
    ),
    "dependency": Change(
        "text/slugify",
        ("strip_marks",),
        {"_vendor.py": ("return text", "return ''.join(c for c in text if ord(c) != 1)")},
        (
            ("_vendor.py", "", "def strip_marks(text):\n    return text\n"),
            ("slugs.py", "import re\n", "import re\nfrom textkit._vendor import strip_marks\n"),
            ("slugs.py", "ascii_only.lower()", "strip_marks(ascii_only.lower())"),
        ),
    ),
    "regex in the loop": Change(
        "text/word_counts[lines=50]",
        ("word_counts",),
        {"words.py": (LOOP, LOOP.replace("_WORD.", """re.compile(r"[a-z']+")."""))},
    ),
    "property": Change(
        "logs/total_size",
        ("Entry.size_bytes",),
        {
            "logs.py": (
                "    size_bytes: int\n",
                PROPERTY,
            )
        },
    ),
    "logging": Change(
        "logs/parse_log[lines=100]",
        ("logging.Logger.debug", "logging.Logger._log", "logging.Logger.isEnabledFor"),
        {"__init__.py": ('"textkit.logs").setLevel(30)', '"textkit.logs").setLevel(10)')},
        (
            ("logs.py", "import re\n", f"import logging\nimport re\n{LEVEL}"),
            ("logs.py", "    match = _LINE", '    _LOG.debug("line %s", line)\n    match = _LINE'),
            (
                "__init__.py",
                "\n__all__",
                '\nimport logging\nlogging.getLogger("textkit.logs").setLevel(30)\n__all__',
            ),
        ),
    ),
    "copy": Change(
        "logs/parse_log[lines=10]",
        ("parse_log",),
        {"logs.py": ("for line in lines]", "for line in copy.deepcopy(lines)]")},
        (("logs.py", "import re\n", "import copy\nimport re\n"),),
    ),
    "import": Change(
        "text/slugify",
        ("slugify",),
        {"slugs.py": ("    ascii_only", "    import json.decoder\n    ascii_only")},
    ),
}
TOTAL = """

def bench_total_size(entries):
    sum(entry.size_bytes for entry in entries)


bench_total_size.setup = lambda: parse_log(log_of(100))
"""


def git(root: Path, *words: str) -> None:
    """Run git in a repository."""
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com")
    subprocess.run(["git", "-C", root, *who, *words], check=True, capture_output=True)


def ask(change: Change) -> tuple[str, str, float]:
    """Check a change; return the function that is named first, all that is said, the seconds."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "textkit"
        shutil.copytree(QUICKSTART, root, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "benchgate.toml").write_text(CONFIG)
        source, logs = root / "src/textkit", root / "benchmarks/bench_logs.py"
        logs.write_text(logs.read_text() + TOTAL)
        for file, old, new in change.before:
            edit(source / file, old, new)
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "base")
        for file, (old, new) in change.edits.items():
            edit(source / file, old, new)
        verdict = Path(name) / "verdict.json"
        start_s = time.monotonic()
        subprocess.run(
            [
                *(sys.executable, "-m", "benchgate", "check", "--quiet", "--against", "HEAD"),
                *("--filter", change.benchmark, "--json", verdict),
            ],
            cwd=root,
            check=False,
        )
        took_s = time.monotonic() - start_s
        rows = json.loads(verdict.read_text())["rows"]
    explained = [row["explanation"] for row in rows if row["explanation"]]
    if not explained:
        return "", f"not explained: {[(row['outcome'], row['ratio']) for row in rows]}", took_s
    causes = explained[0]["causes"]
    return causes[0]["function"] if causes else "", json.dumps(causes), took_s


def edit(file: Path, old: str, new: str) -> None:
    """Replace the first place of a text in a file, which is made if there is none."""
    text = file.read_text() if file.exists() else ""
    if old not in text:
        sys.exit(f"{file.name} has no {old!r}")
    file.write_text(text.replace(old, new, 1))


def main() -> None:
    """Ask about each change, and count the right answers."""
    right = 0
    chosen = sys.argv[1:] or list(CHANGES)
    for name in chosen:
        change = CHANGES[name]
        found, said, took_s = ask(change)
        is_right = found in change.right
        right += is_right
        print(f"{'right' if is_right else 'WRONG'}  {name}: {found} ({took_s:.0f} s)", flush=True)
        if not is_right:
            print(f"       {said}")
    print(f"{right} of {len(chosen)} right")


if __name__ == "__main__":
    main()
