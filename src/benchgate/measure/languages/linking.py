"""Links programs again, with their functions in another order.

The time of compiled code depends on where it lies: a function that nobody calls can move others, so
that they take several percent longer or shorter. So each round gets programs with their functions
in an order of its own: then the place of the code is noise, as it is between two commits, and not
part of the difference (Curtsinger and Berger, "Stabilizer", 2013).

The compilers run this file in place of the linker, which it runs. It needs nothing else of
benchgate, because it may run in another Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    # By name: the sections that hold a function, and their sizes in bytes.
    Functions = Mapping[str, Mapping[str, int]]

LINKS: Final = "{env}/benchgate/links"
FOR_LINKERS: Final[Mapping[str, str]] = (
    {"BENCHGATE_PYTHON": sys.executable, "BENCHGATE_LINKS": LINKS}
    if sys.platform == "linux"
    else {}  # linkers of other systems have other options
)
"""What the compilers get, so that they run this file in place of the linker."""

_WORKER = b"BENCHGATE_FD"
_RUN = "_ZN9benchmark22RunSpecifiedBenchmarksE"
# Programs of Google Benchmark serve benchgate; see cpp/include/benchmark/benchmark.h.
_WRAPPED = (
    f"{_RUN}v",
    f"{_RUN}PNS_17BenchmarkReporterE",
    "_ZN9benchmark8internal25RegisterBenchmarkInternalEPNS0_9BenchmarkE",
)
_RESOLUTION = "-plugin-opt=-fresolution="
_OF_TEXT = re.compile(
    r"^ (\.text\.(?!unlikely|exit|startup|hot|sorted)\S+)\s+0x\w+\s+0x(\w+)", re.MULTILINE
)
# Options that let the linker write further files.
_WRITTEN = ("-Map", "--Map", "--dependency-file")
_ALIGNMENT = 64
_BEGIN = f"  .text : ALIGN({1 << 16})\n  {{\n"
_END = f"    . = ALIGN({1 << 16});\n"
# What a compiler of Rust adds to the name of a function depends on all of its crate.
_OF_RUST = re.compile(r"17h[0-9a-f]{16}E|(?<=C)s[0-9A-Za-z]+_|\.llvm\.\d+")
_TEXT = re.compile(r"^ *\.text +:\n *\{\n", re.MULTILINE)


class LinkError(Exception):
    """The linker failed; the text is what it said."""


def keep(name: str, words: list[str]) -> int:
    """Run the linker of this name, and keep what it links if the program is a worker.

    Returns:
        The exit code of the linker.
    """
    linker = _find(name)
    if linker is None:
        sys.exit(f"{name}: not found")
    words = [each for word in words for each in _expanded(word)]
    words = [*(f"--wrap={each}" for each in _WRAPPED), *words]
    code = subprocess.call([linker, *words])
    out = Path(words[words.index("-o") + 1] if "-o" in words else "a.out")
    links = os.environ.get("BENCHGATE_LINKS")
    if code == 0 and links and "-shared" not in words and _is_worker(out):
        with suppress(LinkError, OSError, ValueError):
            _keep(_folder(Path(links), out), words)
    return code


def _find(name: str) -> str | None:
    """The linker that the compiler would have run."""
    own = Path(__file__).parent / "link"
    listed = [*os.environ.get("COMPILER_PATH", "").split(":"), *os.get_exec_path()]
    folders = [each for each in listed if each and Path(each).resolve() != own.resolve()]
    return shutil.which(name, path=":".join(folders))


def _expanded(word: str) -> list[str]:
    """The words of a file of words."""
    if word.startswith("@") and Path(word[1:]).is_file():
        return shlex.split(Path(word[1:]).read_text())
    return [word]


def _is_worker(program: Path) -> bool:
    try:
        return _WORKER in program.read_bytes()
    except OSError:
        return False


def _folder(links: Path, program: Path) -> Path:
    return links / _digest(str(program.resolve()))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _keep(folder: Path, words: list[str]) -> None:
    """Keep what is needed to link again: compilers remove some object files afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kept: list[str] = []
    for index, word in enumerate(words):
        place = folder / f"{index}.o"
        if words[index - 1] in _WRITTEN or word.startswith(_WRITTEN):
            continue  # the build's own files stay as they are
        if word.endswith(".o") and Path(word).is_file():
            shutil.copy2(word, place)
            kept.append(str(place))
        elif word.startswith(_RESOLUTION):
            kept.append(f"{_RESOLUTION}{folder / 'resolution'}")
        else:
            kept.append(word)
    variables = {key: value for key, value in os.environ.items() if key.startswith("COLLECT_")}
    # Only GNU ld takes a script that says where each function lies.
    command = [_find("ld.bfd") or "ld", *kept]
    link: dict[str, Any] = {"folder": str(Path.cwd()), "command": command, "variables": variables}
    listed, again = folder / "map", folder / "again"
    said = _run(link, f"-Map={listed}", "--verbose", "-o", str(again))
    _, link["script"], *_ = re.split("^=+\n", said, flags=re.MULTILINE)
    functions: dict[str, dict[str, int]] = {}
    for section, size in _OF_TEXT.findall(listed.read_text(errors="replace")):
        sizes = functions.setdefault(_OF_RUST.sub("", section), {})
        sizes[section] = sizes.get(section, 0) + _rounded(int(size, 16))
    link["functions"] = functions
    again.unlink()
    _link(folder, link, [], again, 1)
    again.unlink()
    (folder / "link.json").write_text(json.dumps(link))


def _rounded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def linked_again(
    place: tuple[Path, Path], others: Iterable[tuple[Path, Path]], seed: int
) -> Path | None:
    """Link a program with its functions in an order that a number draws.

    Functions that the others have too begin at the same addresses in all of them.

    Args:
        place: the folder where the linker keeps what it links, and the program.
        others: the same of the programs that it is compared with.

    Returns:
        The new program; None if nobody kept what it, or another one, was linked from.

    Raises:
        LinkError: the linker failed.
    """
    folder = _folder(*place)
    link, *known = (_read(_folder(*each)) for each in (place, *others))
    if not link or not all(known):
        return None
    made = folder / f"{place[1].name}-{seed:010}"
    _link(folder, link, [each["functions"] for each in known], made, seed)
    return made


def _link(
    folder: Path, link: Mapping[str, Any], known: Sequence[Functions], made: Path, seed: int
) -> None:
    """Link with the functions in an order that a number draws, and room for those of others."""
    common: list[str] = []
    own: list[str] = []
    for name in sorted(link["functions"], key=lambda name: _digest(f"{seed} {name}")):
        sizes = link["functions"][name]
        rooms = [sum(each[name].values()) for each in known if name in each]
        own_size = sum(sizes.values())
        text = "".join(f"    *({section}) . = ALIGN({_ALIGNMENT});\n" for section in sizes)
        text += f"    . += {max([own_size, *rooms]) - own_size};\n"
        (common if len(rooms) == len(known) else own).append(text)
    text = "".join([_BEGIN, *common, *own, _END])
    order = folder / f"order-{seed:010}"
    order.write_text(_TEXT.sub(lambda _: text, link["script"], count=1))
    # The last -o holds.
    _run(link, "-T", str(order), "-o", str(made))
    order.unlink(missing_ok=True)


def _read(folder: Path) -> dict[str, Any]:
    try:
        link: dict[str, Any] = json.loads((folder / "link.json").read_text())
    except OSError:
        return {}
    return link


def _run(link: Mapping[str, Any], *more: str) -> str:
    """Link with further words; give what the linker printed."""
    done = subprocess.run(
        [*link["command"], *more],
        cwd=link["folder"],
        env={**os.environ, **link["variables"]},
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise LinkError(f"{link['command'][0]} failed\n{done.stderr[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1], sys.argv[2:]))
