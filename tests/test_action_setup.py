"""scripts/action-setup.sh among interpreters of every kind, with neither a network nor pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "action-setup.sh"
# What tells whether a path is out of reach: root can write to all, so the tests say it themselves.
REACHES = '[ -w "$path" ] || [ -O "$path" ]'
REACHES_HERE = 'case "${OUT_OF_REACH:-}" in *":$path:"*) false ;; esac'
FIXED = "/usr/bin/python3 /usr/local/bin/python3 /opt/homebrew/bin/python3"
TOOLS = ("bash", "cat", "chmod", "cp", "dirname", "grep", "mkdir", "mktemp", "rm", "sh", "tr")
NONE = "::error title=benchgate::no Python 3.11 or newer with venv was found on this runner"

# Stands for an interpreter: what is asked by `-c` a real one answers, which takes itself for that
# version; an environment that it makes has an interpreter that tells what it was called with.
INTERPRETER = """\
#!/bin/sh
echo "$0" >>"$LOG"
{first}
if [ "$2" = -c ]; then
  exec '{python}' -I -c '
import sys, sysconfig
known = sysconfig.get_config_var
sys.version_info = {version}
sysconfig.get_config_var = lambda name: {flag} if name == "Py_GIL_DISABLED" else known(name)
{more}
exec(sys.argv[1])
' "$3"
fi
if [ "$1 $2 $3 $4" = "-I -m venv --without-pip" ]; then
  mkdir -p "$5/bin" "$5/site"
  cp "$STUB" "$5/bin/python"
  exit 0
fi
# With pip.
if [ "$1 $2 $3" = "-I -m venv" ]; then
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  exit 0
fi
case "$2" in
*package-sources.py)
  env >"$LOG.sources"
  echo "--index-url https://machine.example.org/simple" >"$3"
  echo "PIP_CERT=/machine/its own.pem"
  exit 0
  ;;
esac
if [ "$1 $2 $3" = "-I -m pip" ]; then
  echo "pip: $*" >>"$LOG"
  env >"$LOG.pip"
  for folder; do [ "$before" != --target ] || break; before=$folder; done
  mkdir -p "$folder/bin"
  cp "$UV" "$folder/bin/uv"
  cat "${{LOG%/log}}/exits" >&2 2>/dev/null
  ! grep -qs PIP_STUB_EXIT "${{LOG%/log}}/exits"
  exit
fi
exit 99
"""
STUB = """\
#!/bin/sh
echo "venv: $*" >>"$LOG"
case "$2 $3" in
"-m benchgate") echo "benchgate, version 1" ;;
*) echo "${0%/bin/python}/site" ;;
esac
"""
UV = """\
#!/bin/sh
echo "uv: $*" >>"$LOG"
env >"$LOG.uv"
cat "${LOG%/log}/exits" >&2 2>/dev/null
! grep -qs UV_STUB_EXIT "${LOG%/log}/exits"
"""


@dataclass(slots=True)
class Runner:
    """A machine: its tools, its interpreters, and a copy of the action.

    Attributes:
        system: stands for /usr/bin and the like.
        variables: of the job.
    """

    folder: Path
    action: Path
    system: Path
    cache: Path
    variables: dict[str, str]

    @property
    def temporary(self) -> Path:
        return self.folder / "runner temp"

    @property
    def environments(self) -> list[Path]:
        """What each use has said that its environment is."""
        output = self.folder / "output"
        lines = output.read_text().splitlines() if output.exists() else []
        return [Path(line.removeprefix("environment=")) for line in lines]

    def interpreter(
        self,
        place: Path,
        version: tuple[int, ...] = (3, 12, 1),
        *,
        first: str = "",
        free_threaded: bool = False,
        more: str = "",
    ) -> Path:
        """Put one at a place.

        Args:
            first: done by its shell before anything else.
            more: done by Python before it answers.
        """
        text = INTERPRETER.format(
            python=sys.executable,
            version=version,
            flag=int(free_threaded),
            first=first,
            more=more,
        )
        return program(place, text)

    def on_path(self, name: str) -> Path:
        """A place of that name in a folder that comes last on the PATH so far."""
        folder = self.folder / f"path {len(self.variables['PATH'].split(':'))}"
        self.variables["PATH"] += f":{folder}"
        return folder / name

    def cached(self, version: str) -> Path:
        return self.cache / "Python" / version / "x64" / "bin" / "python3"

    def __call__(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.action / "scripts" / SCRIPT.name],
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def tried(self) -> list[str]:
        """Every interpreter that was started."""
        return [line for line in self._log() if ": " not in line]

    def calls(self, who: str) -> list[str]:
        """What the environment's own interpreter ("venv"), pip or uv was called with."""
        return [
            line.removeprefix(f"{who}: ") for line in self._log() if line.startswith(f"{who}: ")
        ]

    def seen(self, who: str) -> str:
        """The variables that pip, uv or the script that looks for sources was started with."""
        return Path(f"{self.variables['LOG']}.{who}").read_text()

    def _log(self) -> list[str]:
        log = Path(self.variables["LOG"])
        return log.read_text().splitlines() if log.exists() else []

    def chosen(self) -> str:
        """The one that made the environment."""
        done = self()
        assert done.returncode == 0, done.stderr
        return self.tried()[-1]


def program(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    action, tools = tmp_path / "the action", tmp_path / "tools"
    system, cache = tmp_path / "system" / "python3", tmp_path / "tool cache"
    text = SCRIPT.read_text()
    assert text.count(FIXED) == text.count(REACHES) == 1
    text = text.replace(FIXED, f"'{system}'").replace(REACHES, REACHES_HERE)
    program(action / "scripts" / SCRIPT.name, text)
    locks = ("requirements/action.txt", "requirements/installer.txt")
    for name in (*locks, "src/benchgate/a.py", "src/benchgate/b/c.py"):
        path = action / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    tools.mkdir()
    (tmp_path / "runner temp").mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (tools / name).symlink_to(found)
    program(tools / "uname", '#!/bin/sh\necho "${UNAME:-Linux}"\n')
    program(tools / "env", "#!/bin/sh\nexport -p\n")
    stub, uv = program(tmp_path / "stub", STUB), program(tmp_path / "uv", UV)
    variables = {
        "PATH": str(tools),
        "LOG": str(tmp_path / "log"),
        "STUB": str(stub),
        "UV": str(uv),
        "RUNNER_TEMP": str(tmp_path / "runner temp"),
        "RUNNER_TOOL_CACHE": str(cache),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    return Runner(tmp_path, action, system, cache, variables)


@pytest.mark.parametrize(
    ("cached", "on_path", "expected"),
    [
        (["3.11.9", "3.12.4", "3.13.1"], [], "cache/3.13.1"),
        (["3.11.9", "3.12.4"], ["python3.13"], "path/python3.13"),
        (["3.12.4"], ["python3.12"], "cache/3.12.4"),
        (["3.11.9"], ["python3.12", "python3"], "path/python3.12"),
        # The newest may lack wheels.
        (["3.14.0"], ["python3.11"], "path/python3.11"),
        (["3.14.0"], ["python3"], "cache/3.14.0"),
        ([], ["python3"], "path/python3"),
        (["3.10.1", "3.9.7", "3.15.0"], [], "system"),
        ([], [], "system"),
    ],
)
def test_the_best_interpreter_is_taken(
    runner: Runner, cached: list[str], on_path: list[str], expected: str
) -> None:
    places = {"system": runner.interpreter(runner.system)}
    for version in cached:
        places[f"cache/{version}"] = runner.interpreter(runner.cached(version))
    for name in on_path:
        places[f"path/{name}"] = runner.interpreter(runner.on_path(name))
    assert runner.chosen() == str(places[expected])


def test_without_a_tool_cache_the_path_is_enough(runner: Runner) -> None:
    del runner.variables["RUNNER_TOOL_CACHE"]
    place = runner.interpreter(runner.on_path("python3"))
    assert runner.chosen() == str(place)


UNUSABLE: dict[str, dict[str, object]] = {
    "too old": {"version": (3, 10, 14)},
    "much too old": {"version": (2, 7, 18)},
    "free-threaded": {"version": (3, 13, 1), "free_threaded": True},
    "without ensurepip": {"more": 'sys.modules["ensurepip"] = None'},
    "without venv": {"more": 'sys.modules["venv"] = None'},
    "that fails": {"first": "exit 127"},
    "that crashes": {"first": "kill -ABRT $$"},
    "that talks": {"first": "echo '::error::out'; echo '::error::err' >&2; exit 1"},
    "that listens": {"first": "cat >/dev/null; exit 1"},
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_an_interpreter_is_passed_over(runner: Runner, kind: str) -> None:
    bad = runner.interpreter(runner.cached("3.13.0"), **UNUSABLE[kind])  # type: ignore[arg-type]
    good = runner.interpreter(runner.on_path("python3"))
    done = runner()
    assert done.returncode == 0, done.stderr
    assert runner.tried()[:2] == [str(bad), str(good)]
    assert done.stdout == "benchgate, version 1\n"
    assert "::error" not in done.stderr


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 13, 9), (3, 14, 0), (3, 15, 0)])
def test_any_version_from_3_11_on_will_do(runner: Runner, version: tuple[int, ...]) -> None:
    place = runner.interpreter(runner.on_path("python3"), version)
    assert runner.chosen() == str(place)


def test_of_several_on_the_path_a_later_one_may_do(runner: Runner) -> None:
    # As where a step of the user has put an older one first.
    old = runner.interpreter(runner.on_path("python3"), (3, 8, 0))
    new = runner.interpreter(runner.on_path("python3"), (3, 12, 0))
    assert runner.chosen() == str(new)
    assert runner.tried()[0] == str(old)


@pytest.mark.parametrize("is_there", [True, False])
def test_without_any_the_job_is_told_what_to_do(runner: Runner, *, is_there: bool) -> None:
    if is_there:
        runner.interpreter(runner.system, (3, 9, 2))
    done = runner()
    assert (done.returncode, done.stderr) == (2, "")
    first, container = "add actions/setup-python before this step", "in the container of the job"
    assert done.stdout.startswith(f"{NONE}; {first}, or install it {container} (")
    assert done.stdout.count("\n") == 1
    assert list(runner.temporary.iterdir()) == runner.environments == []


def test_on_windows_the_job_is_told_so(runner: Runner) -> None:
    runner.interpreter(runner.system)
    done = runner(UNAME="MINGW64_NT-10.0-26100")
    assert done.returncode == 2
    assert done.stdout == (
        "::error title=benchgate::benchgate runs on Linux and macOS runners, "
        "not on MINGW64_NT-10.0-26100\n"
    )
    assert runner(UNAME="Darwin").returncode == 0


def test_only_what_is_locked_is_installed_and_the_code_is_copied(runner: Runner) -> None:
    runner.interpreter(runner.system)
    assert runner().returncode == 0
    (environment,) = runner.environments
    made = environment.parent
    (of_pip,), (of_uv,) = runner.calls("pip"), runner.calls("uv")
    assert of_pip == (
        "-I -m pip install --quiet --disable-pip-version-check --no-input"
        " --root-user-action ignore --no-compile --no-deps --only-binary :all: --require-hashes"
        f" --target {made}/uv --requirement {made}/sources.txt"
        f" --requirement {runner.action}/requirements/installer.txt"
    )
    assert of_uv == (
        f"pip install --quiet --no-config --python {environment}/bin/python"
        f" --cache-dir {made}/cache --index-strategy unsafe-best-match --no-build"
        f" --require-hashes --requirement {made}/sources.txt"
        f" --requirement {runner.action}/requirements/action.txt"
    )
    assert all(call.startswith("-I ") for call in runner.calls("venv"))
    copied = environment / "site" / "benchgate"
    assert (copied / "a.py").read_text() == "# src/benchgate/a.py\n"
    assert (copied / "b" / "c.py").exists()
    assert {path.name for path in made.iterdir()} == {"venv", "sources.txt"}


def test_an_interpreter_without_pip_gets_one_elsewhere(runner: Runner) -> None:
    plain = runner.interpreter(runner.system, more='sys.modules["pip"] = None')
    assert runner().returncode == 0
    (environment,) = runner.environments
    assert runner.tried()[-1] == f"{environment.parent}/pip/bin/python"
    assert set(runner.tried()[:-2]) == {str(plain)}
    assert len(runner.calls("pip")) == 1
    assert not (environment.parent / "pip").exists()


def test_what_a_job_has_set_for_its_own_python_leads_nothing_astray(runner: Runner) -> None:
    runner.interpreter(runner.system)
    done = runner(
        PYTHONPATH="/theirs",
        PYTHONHOME="/theirs",
        PYTHONINSPECT="1",
        PYTHONWARNINGS="error",
        VIRTUAL_ENV="/theirs",
        PIP_TARGET="/theirs",
        PIP_PREFIX="/theirs",
        PIP_PLATFORM="theirs",
        PIP_USER="1",
        PIP_NO_DEPS="1",
        PIP_REQUIRE_VIRTUALENV="1",
        PIP_CONSTRAINT="/theirs",
        PIP_NO_BINARY=":all:",
        PIP_INDEX_URL="https://mirror.example.org/simple",
        UV_PYTHON="/theirs",
        UV_CONFIG_FILE="/theirs",
        UV_DEFAULT_INDEX="https://theirs.example.org/simple",
    )
    assert done.returncode == 0, done.stderr
    expected = {
        "sources": {"PIP_INDEX_URL"},
        "pip": {"PIP_CONFIG_FILE", "PIP_CERT"},
        "uv": {"PIP_CERT"},
    }
    for who, names in expected.items():
        seen = runner.seen(who)
        assert "theirs" not in seen
        found = set(re.findall(r"\b(?:PIP|PYTHON|UV)_?\w+(?==)", seen))
        assert found - {"UV_SYSTEM_CERTS"} == names
    assert "/machine/its own.pem" in runner.seen("uv")


def test_no_use_runs_what_an_earlier_one_has_left(runner: Runner) -> None:
    runner.interpreter(runner.system)
    assert runner().returncode == 0
    (first,) = runner.environments
    # As a benchmark of the first use may have done it, to whatever it finds.
    for path in runner.temporary.rglob("*"):
        if path.is_dir():
            (path / "sitecustomize.py").write_text("planted")
    (first / "bin" / "python").write_text("#!/bin/sh\necho planted\n")
    done = runner()
    assert done.stdout == "benchgate, version 1\n", done.stderr
    _, second = runner.environments
    assert not second.is_relative_to(first.parent)
    assert list(second.parent.rglob("sitecustomize.py")) == []
    assert len(runner.calls("pip")) == len(runner.calls("uv")) == 2


def test_an_environment_is_for_this_user_alone(runner: Runner) -> None:
    runner.interpreter(runner.system)
    assert runner().returncode == 0
    (environment,) = runner.environments
    assert environment.parent.parent == runner.temporary
    assert environment.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("tool", "lock"), [("pip", "installer.txt"), ("uv", "action.txt")])
@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("error: Request failed after 3 retries", "because the package index is down, cannot be"),
        ("ERROR: No matching distribution found", "because the package index is down, cannot be"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES", "the package index has other files than"),
        ("error: Hash mismatch for `uv==1`", "the package index has other files than"),
        ("[Errno 28] No space left on device", "the disk of this runner is full"),
    ],
)
def test_what_was_not_installed_is_no_environment(
    runner: Runner, tool: str, lock: str, words: str, why: str
) -> None:
    runner.interpreter(runner.system)
    (runner.folder / "exits").write_text(f"{tool.upper()}_STUB_EXIT\n{words}")
    done = runner()
    assert done.returncode == 1
    assert runner.environments == []
    assert words in done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("::error")]
    assert line.startswith("::error title=benchgate::benchgate was not installed: ")
    assert why in line
    assert "disk" in why or f"requirements/{lock}" in line


def test_another_failure_is_an_error_too(runner: Runner) -> None:
    runner.interpreter(runner.system)
    done = runner(RUNNER_TEMP=str(runner.folder / "nowhere"))
    assert done.returncode == 1
    assert "::error title=benchgate::benchgate was not installed: line " in done.stdout


def test_pip_reads_no_file_of_the_users(runner: Runner) -> None:
    # It may name another interpreter to run, and steps before this one may have written it.
    runner.interpreter(runner.system)
    assert runner(PIP_CONFIG_FILE="/theirs").returncode == 0
    # pip reads no file at all if it is given this one.
    assert re.findall(r"PIP_CONFIG_FILE='?([^'\n]*)", runner.seen("pip")) == ["/dev/null"]


def test_an_interpreter_that_the_jobs_user_cannot_change_comes_first(runner: Runner) -> None:
    cached = runner.interpreter(runner.cached("3.13.1"))
    # The program is out of reach, but whoever can write to the folder can put another one there.
    named = runner.interpreter(runner.on_path("python3.13"))
    safe = runner.interpreter(runner.system)
    reach = f":{cached.parent}:{named}:{safe}:{safe.parent}:"
    assert runner(OUT_OF_REACH=reach).returncode == 0
    assert runner.tried()[-1] == str(safe)


def test_what_the_jobs_user_can_change_is_used_where_there_is_nothing_else(runner: Runner) -> None:
    too_old = runner.interpreter(runner.system, (3, 10, 2))
    cached = runner.interpreter(runner.cached("3.13.1"))
    assert runner(OUT_OF_REACH=f":{too_old}:{too_old.parent}:").returncode == 0
    assert runner.tried()[-1] == str(cached)


def test_it_can_be_run_as_it_lies_there() -> None:
    assert os.access(SCRIPT, os.X_OK)
    assert SCRIPT.read_text().startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", SCRIPT], check=True)  # noqa: S607 - any bash


# With an example of each, so that no pattern is one that finds nothing.
BASH_4 = {
    r"\b(?:mapfile|readarray)\b": "mapfile -t lines",
    r"\bdeclare -[gA]": "declare -A by_name",
    r"\b(?:local|declare) -n\b": "local -n other=$1",
    r"\$\{[^}]*(?:,,?|\^\^?)[^}]*\}": "${name,,}",
    r"\$\{[^}]*@[A-Za-z]\}": "${name@Q}",
    r"\|&": "make |& cat",
    r"&>>": "make &>>log",
    r"\bcoproc\b": "coproc cat",
    r";;?&": "a) b ;;&",
    r"\bwait -n\b": "wait -n",
    r"\bglobstar\b": "shopt -s globstar",
    r"%\([^)]*\)T": "printf '%(%F)T'",
    r"\$\{[^}]*\[-\d+\]": "${names[-1]}",
    r"\[\[ -v\b": "[[ -v name ]]",
    r"\bEPOCH(?:SECONDS|REALTIME)\b": "$EPOCHSECONDS",
}


def test_it_needs_no_newer_bash_than_macos_has() -> None:
    text = re.sub(r"(?m)^\s*#.*$", "", SCRIPT.read_text())
    for pattern, example in BASH_4.items():
        assert re.search(pattern, example), pattern
        assert not re.search(pattern, text), pattern
