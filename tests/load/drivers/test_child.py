"""Programs and functions that behave badly, and those that do not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError
from tests.interpreters import find_interpreter
from tests.load.drivers.places import connected, driver_of, place_in
from tests.patience import in_time

from benchgate.load.drivers import programs
from benchgate.load.drivers.driver import LaunchPlace, OperationError, TargetError
from benchgate.load.drivers.programs import CommandTarget, PythonTarget

if TYPE_CHECKING:
    from benchgate.load.drivers.driver import Driver

HANGING = "import time; time.sleep(60)"
READY = "import json, os, sys, time\nprint('{}', flush=True)\n"


def program(folder: Path, text: str, **target: Any) -> Driver[Any, Any, Any]:  # noqa: ANN401
    (folder / "program.py").write_text(text)
    keys = {"command": f"{sys.executable} ./program.py", **target}
    return driver_of("command", keys, [{"name": "one"}], place_in(folder, SECRET="p@ss w%rd"))  # noqa: S106


def functions(
    folder: Path,
    text: str,
    *steps: dict[str, Any],
    **target: Any,  # noqa: ANN401
) -> Driver[Any, Any, Any]:
    (folder / "load").mkdir(exist_ok=True)
    (folder / "load" / "orders.py").write_text(text)
    keys = {"function": "load/orders.py:lookup", "interpreter": sys.executable, **target}
    return driver_of("python", keys, list(steps) or [{}], place_in(folder))


def test_the_protocol(tmp_path: Path) -> None:
    text = READY + (
        "for line in sys.stdin:\n"
        "    open('seen', 'a').write(line)\n"
        '    print(\'{"ok": true, "more": [1]}\', flush=True)\n'
        "open('ended', 'w').close()\n"
    )
    driver = program(tmp_path, text)
    driver.run(driver.SCRIPT.model_validate({"requests": [{"action": "create", "n": [1, None]}]}))
    with connected(driver) as connection:
        connection.operations()[0]({"id": 7, "name": "é\n"})
        connection.operations()[0]({})
    assert (tmp_path / "seen").read_text().splitlines() == [
        '{"action":"create","n":[1,null]}',
        '{"step":"one","params":{"id":7,"name":"\\u00e9\\n"}}',
        '{"step":"one","params":{}}',
    ]
    assert (tmp_path / "ended").exists()  # it was not killed


def test_the_shell_program_of_the_docs_works(tmp_path: Path) -> None:
    assert programs.__doc__ is not None
    _, _, text = programs.__doc__.partition("for the shell:\n")
    (tmp_path / "curl").write_text("#!/bin/sh\ntest -e fail && exit 7\nexit 0\n")
    (tmp_path / "curl").chmod(0o755)
    (tmp_path / "load.sh").write_text(text.replace("curl --", "./curl --"))
    driver = driver_of(
        "command", {"command": "sh ./load.sh"}, [{"name": "one"}], place_in(tmp_path)
    )
    with connected(driver) as connection:
        connection.operations()[0]({})
        (tmp_path / "fail").touch()
        with pytest.raises(OperationError, match=r"^curl failed$"):
            connection.operations()[0]({})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print('hello')", r"its answer is not one JSON object on one line: 'hello'"),
        ("print('[1]')", r"not one JSON object on one line: '\[1\]'"),
        ("print('[' * 100_000)", r"not one JSON object on one line: '\[\["),
        ("print('{}\\n{}')", r"not one JSON object on one line: "),
        ('print(\'{"error": "out of orders"}\')', "it did not get ready: out of orders"),
        ("", r"it exited with code 0$"),
        (
            "import sys; sys.exit('one\\ntwo\\nthree\\nfour')",
            r"it exited with code 1: two / three / four",
        ),
        ("import os; os.kill(os.getpid(), 9)", r"it was killed by SIGKILL"),
        (HANGING, r"it did not get ready within 0\.5 s"),
        ("import os, time; os.close(1); time.sleep(60)", r"it closed its standard"),
        ("import sys; sys.exit('no p@ss w%rd, p%40ss%20w%25rd')", r"no \[removed\], \[removed\]$"),
    ],
)
def test_a_program_that_does_not_get_ready(tmp_path: Path, text: str, why: str) -> None:
    driver = program(
        tmp_path, text, timeout="500ms" if text == HANGING else "60s", env={"A": "${SECRET}"}
    )
    with pytest.raises(TargetError, match=f"^the program failed: .*{why}"):
        driver.connect(0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print('hello', flush=True)", "the program failed: its answer is not one JSON object"),
        ("print('{}{}', flush=True)", "the program failed: its answer is not one JSON object"),
        ('print(\'{"error": {"code": 7}}\', flush=True)', '{"code": 7}'),
        ("sys.exit('the end')", "the program failed: it exited with code 1: the end"),
        ("time.sleep(300)", "the program failed: it did not answer within"),
        ("os.write(1, b'{'); time.sleep(300)", "the program failed: it did not answer within"),
        ("os.write(1, b'x' * 2**25)", r"the program failed: its answer is too long"),
    ],
)
def test_a_program_that_answers_badly_is_started_anew(tmp_path: Path, text: str, why: str) -> None:
    fault = (
        f"for line in sys.stdin:\n    if '\"bad\"' in line:\n        {text}\n    else:\n        "
    )
    fault += "print('{}', flush=True)\n"

    def run(limit_s: float) -> None:
        driver = program(tmp_path, READY + fault, timeout=f"{limit_s}s")
        with connected(driver) as connection:
            operation = connection.operations()[0]
            for _ in range(2):
                operation({"is": "good"})
                with pytest.raises(OperationError, match=f"^{why}"):
                    operation({"is": "bad"})
            operation({"is": "good"})

    in_time(run, late="did not .* within")


def test_a_program_that_ends_between_operations(tmp_path: Path) -> None:
    text = READY + "sys.stdin.readline(); print('{}', flush=True); sys.exit('the end')"
    with connected(program(tmp_path, text)) as connection:
        operation = connection.operations()[0]
        operation({})
        with pytest.raises(
            OperationError, match=r"^the program failed: it exited with code 1: the end$"
        ):
            operation({})
        operation({})


def test_a_program_that_answers_twice(tmp_path: Path) -> None:
    text = READY + "for line in sys.stdin: print('{}', flush=True); print('{}', flush=True)"
    why = "it wrote what nobody asked for|its answer is not one JSON object on one line"
    with connected(program(tmp_path, text)) as connection:

        def many() -> None:  # the second answer may come later
            for _ in range(1000):
                connection.operations()[0]({})

        with pytest.raises(OperationError, match=f"^the program failed: (?:{why}): "):
            many()


def test_a_program_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_END_WAIT_S", 0.2)
    monkeypatch.setattr(programs, "_TERM_WAIT_S", 0.2)
    text = "import os, signal\nsignal.signal(15, signal.SIG_IGN)\n"
    text += "open('pid', 'w').write(str(os.getpid()))\n"
    text += READY + "while True: time.sleep(60)\n"
    driver = program(tmp_path, text)
    connection = driver.connect(0)
    connection.close()
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_a_large_request_is_sent_whole(tmp_path: Path) -> None:
    text = READY + "for line in sys.stdin: print(json.dumps({'n': len(line)}), flush=True)"
    with connected(program(tmp_path, text)) as connection:
        connection.operations()[0]({"text": "x" * 5_000_000})


def test_a_program_that_does_not_read(tmp_path: Path) -> None:
    text = READY + "time.sleep(300)"

    def run(limit_s: float) -> None:
        with (
            connected(program(tmp_path, text, timeout=f"{limit_s}s")) as connection,
            pytest.raises(OperationError, match=r"it does not read its standard input$"),
        ):
            connection.operations()[0]({"text": "x" * 5_000_000})

    in_time(run, late="did not get ready within")


def test_environment_and_placeholders(tmp_path: Path) -> None:
    text = READY + (
        "for line in sys.stdin:\n"
        "    found = [sys.argv[1:], os.environ['A'], os.getcwd()]\n"
        "    print(json.dumps({'error': repr(found)}), flush=True)\n"
    )
    (tmp_path / "program.py").write_text(text)
    place = place_in(tmp_path, port="81", SECRET="x yz")  # noqa: S106 - not one
    driver = driver_of(
        "command",
        {
            "command": f"{sys.executable} ./program.py 'a {{port}}' ''",
            "env": {"A": "${SECRET}{port}"},
        },
        [{"name": "one"}],
        place,
    )
    with connected(driver) as connection, pytest.raises(OperationError) as caught:
        connection.operations()[0]({})
    assert str(caught.value) == repr([["a 81", ""], "[removed]81", str(tmp_path)])


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("python3 load/orders.py --x=y", ("load/orders.py",)),
        ("./orders -c etc/x.toml", ("./orders", "etc/x.toml")),
        ("/usr/bin/python3 {root}/x.py --file=a/b http://x/y node", ()),
    ],
)
def test_words_with_a_slash_are_files_of_the_tree(text: str, files: tuple[str, ...]) -> None:
    assert CommandTarget.model_validate({"command": text}).own_files() == files


@pytest.mark.parametrize("text", ["", "a && b", "a 'b", "A=1 b", "a | b"])
def test_wrong_commands_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        CommandTarget.model_validate({"command": text})


def test_functions_get_their_parameters(tmp_path: Path) -> None:
    (tmp_path / "load").mkdir()
    (tmp_path / "load" / "helper.py").write_text("def say(x): raise ValueError(x)\n")
    text = (
        "import helper, sys\n"
        "print('imported')\n"
        "def lookup(id, name='n'):\n"
        "    print('noise')\n"
        "    helper.say((id, name, sys.stdin.read(), __name__))\n"
        "def other(): sys.exit('gone\\nfor good')\n"
        "def odd(): raise ValueError\n"
    )
    other = [{"function": "load/orders.py:other"}, {"function": "load/orders.py:odd"}]
    with connected(functions(tmp_path, text, {}, *other)) as connection:
        first, second, third = connection.operations()
        with pytest.raises(OperationError, match=r"^ValueError: \(7, 'n', '', 'orders'\)$"):
            first({"id": 7})
        with pytest.raises(OperationError, match=r"^TypeError: lookup\(\) missing 1 required"):
            first({})
        with pytest.raises(OperationError, match=r"^SystemExit: gone for good$"):
            second({})
        with pytest.raises(OperationError, match=r"^ValueError$"):
            third({})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def lookup(", r"SyntaxError: .*orders\.py"),
        ("import no_such_module", r"ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1", r"AttributeError: load/orders\.py has no function lookup"),
        ("lookup = 1", r"AttributeError: load/orders\.py has no function lookup"),
        ("import os; os._exit(3)", r"it exited with code 3"),
    ],
)
def test_a_module_that_cannot_be_used(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TargetError, match=f"^the program failed: .*{why}"):
        functions(tmp_path, text).connect(0)


def test_each_step_needs_a_function(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"^step 'step0' names no function, and neither does"):
        driver_of("python", {}, [{}], place_in(tmp_path))


@pytest.mark.parametrize(
    "text", ["orders.py", "orders:lookup", "../x.py:f", "/x.py:f", "x.py:1f", ":f"]
)
def test_wrong_functions_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        PythonTarget.model_validate({"function": text})


def test_functions_are_code_under_test(tmp_path: Path) -> None:
    driver = functions(tmp_path, "", {"function": "load/more.py:f"})
    assert driver.target.own_files() == ("load/orders.py",)
    assert driver.steps[0].own_files() == ("load/more.py",)
    assert driver.SCRIPT.model_validate({"function": "a.py:f"}).own_files() == ("a.py",)


def test_ctrl_c_lets_the_operation_end(tmp_path: Path) -> None:
    text = "import os, signal\ndef lookup(): os.kill(os.getpid(), signal.SIGINT)\n"
    with connected(functions(tmp_path, text)) as connection:
        connection.operations()[0]({})


def test_the_interpreter_is_that_of_the_side(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    text = "import os\ndef lookup(): raise ValueError(os.environ['PATH'])\n"
    made = functions(tmp_path, text, interpreter="python3")
    place = made.place
    environ = {"PATH": str(tmp_path / "bin")}
    same = LaunchPlace(place.folder, place.scratch, expand=place.expand, environ=environ)
    with (
        connected(type(made)(made.target, made.steps, same)) as connection,
        pytest.raises(OperationError, match=f"^ValueError: {tmp_path}/bin$"),
    ):
        connection.operations()[0]({})


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_other_interpreters(tmp_path: Path, version: str) -> None:
    found = find_interpreter(version)
    text = "def lookup(id): assert id == 7\n"
    with connected(functions(tmp_path, text, interpreter=found)) as connection:
        connection.operations()[0]({"id": 7})
        with pytest.raises(OperationError, match=r"^AssertionError$"):
            connection.operations()[0]({"id": 8})
