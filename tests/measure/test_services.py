"""Services, with real processes: small programs that behave well or badly."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from tests.load.servers import HttpServer

from benchgate.load.scenario import Service
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.scenarios.readiness import HOST
from benchgate.measure.scenarios.services import (
    ServiceFailedError,
    ServicePlace,
    Services,
    free_port,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.measure.processes.guardian import Guardian

# As small as a server can be: it listens on the port, and answers every connection.
SERVER = """\
import os, signal, socket, sys, time
print("starting", flush=True)
def serve(port):
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(port)))
    listening.listen()
    print("listening", flush=True)
    while True:
        connection, _ = listening.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n" + os.environ.get("GREETING", "").encode())
        connection.close()
"""


class MakeServices(Protocol):
    def __call__(
        self,
        *programs: str,
        pick_port: Callable[[], int] = free_port,
        cpus: frozenset[int] | None = None,
        **keys: Any,  # noqa: ANN401 - of any type
    ) -> Services: ...


@pytest.fixture
def make(tmp_path: Path, guardian: Guardian) -> Iterator[MakeServices]:
    """Make services of Python programs, which begin with SERVER; `keys` are those of each."""
    made: list[Services] = []

    def make_services(
        *programs: str,
        pick_port: Callable[[], int] = free_port,
        cpus: frozenset[int] | None = None,
        **keys: Any,  # noqa: ANN401 - of any type
    ) -> Services:
        services = []
        for index, program in enumerate(programs):
            file = tmp_path / f"server{index}.py"
            file.write_text(SERVER + program)
            document = {
                "name": f"server{index}" if len(programs) > 1 else "api",
                "start": f"{sys.executable} {{root}}/server{index}.py {{port}}",
                "ready": {"tcp": True},
                **keys,
            }
            services.append(Service.model_validate(document))
        logs = tmp_path / "logs"
        logs.mkdir(exist_ok=True)
        environ = {"PATH": os.environ["PATH"], "SECRET": "hidden", **guardian.variables}
        values = {"root": str(tmp_path), "scratch": str(tmp_path)}
        arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
        place = ServicePlace(arm, environ, values, logs, cpus)
        made.append(Services(services, place, guardian, pick_port=pick_port))
        return made[-1]

    yield make_services
    for one in made:
        one.kill()


def answer(port: str) -> str:
    with closing(socket.create_connection((HOST, int(port)), 60)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return connection.recv(1000).decode()


def refuses(port: str) -> bool:
    with closing(socket.socket()) as connection:
        return connection.connect_ex((HOST, int(port))) != 0


def failure(do: Callable[[], None]) -> str:
    with pytest.raises(ServiceFailedError) as caught:
        do()
    return str(caught.value)


def test_a_service_listens_on_a_port_of_its_own(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])")

    services.start()
    port = services.values["port"]

    assert services.values == {"port": port, "api_port": port}
    assert "200 OK" in answer(port)
    services.require_alive()
    services.stop()
    assert refuses(port)
    assert services.log_of("api").text() == "starting\nlistening\n"


def test_services_start_in_order_and_know_each_other(make: MakeServices) -> None:
    services = make(
        "serve(sys.argv[1])",
        "socket.create_connection(('127.0.0.1', int(os.environ['FIRST']))).close()\n"
        "serve(sys.argv[1])",
        env={"FIRST": "{server0_port}"},
    )

    services.start()

    assert set(services.values) == {"server0_port", "server1_port"}
    services.stop()


def test_variables_of_benchgate_are_replaced(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])", env={"GREETING": "${SECRET} on {port}"})

    services.start()

    assert f"hidden on {services.values['port']}" in answer(services.values["port"])
    services.stop()


def test_a_variable_that_is_not_set_is_named(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])", env={"GREETING": "${NOT_SET}"})

    assert failure(services.start) == (
        "the service api cannot be started: the variable NOT_SET is not set"
    )


@pytest.mark.parametrize(
    "ready",
    [
        {"tcp": True},
        {"http": "/health"},
        {"log": "^listening$"},
        {"command": f"{sys.executable} connect.py {{port}}"},
    ],
)
def test_it_is_awaited(make: MakeServices, tmp_path: Path, ready: dict[str, Any]) -> None:
    connect = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    (tmp_path / "connect.py").write_text(connect)
    services = make("time.sleep(0.3); serve(sys.argv[1])", ready=ready)

    services.start()

    assert "200 OK" in answer(services.values["port"])
    services.stop()


@pytest.mark.parametrize(
    ("ready", "why"),
    [
        ({"tcp": True}, "it does not listen on its port"),
        ({"http": "/health"}, "must have status 200, but nothing answers"),
        ({"log": "^ready$"}, "no line of its output matches '^ready$'"),
        ({"command": "false"}, "the command 'false' of `ready` does not succeed"),
    ],
)
def test_it_never_gets_ready(make: MakeServices, ready: dict[str, Any], why: str) -> None:
    services = make("time.sleep(60)", ready={**ready, "timeout": "300ms"})

    error = failure(services.start)

    assert error.startswith("the service api was not ready after 0.3 s: ")
    assert why in error


def test_a_wrong_status_is_told(make: MakeServices) -> None:
    ready = {"http": "/health", "status": 204, "timeout": "300ms"}
    with HttpServer() as server:  # it listens already
        services = make("time.sleep(60)", pick_port=lambda: server.port, ready=ready)

        assert "must have status 204, but the answer has status 200" in failure(services.start)


def test_it_dies_at_once(make: MakeServices) -> None:
    services = make("print('no configuration'); sys.exit(3)")

    assert (
        failure(services.start)
        == "the service api ended before it was ready: it exited with code 3"
    )
    assert services.log_of("api").tail() == "starting\nno configuration"


def test_a_program_that_is_not_there(make: MakeServices) -> None:
    services = make("", start="{root}/nothing --port {port}")

    assert failure(services.start).startswith(
        "the service api cannot be started: command not found: there is no file "
    )


def test_it_dies_under_load(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])")
    services.start()
    [process] = services._running  # noqa: SLF001 - to end it as the kernel would
    os.kill(process._process.pid, signal.SIGKILL)  # noqa: SLF001 - as above
    process._process.wait(60)  # noqa: SLF001 - as above

    assert failure(services.require_alive) == (
        "the service api ended while it was under load: it was killed by SIGKILL"
    )


def test_it_fails_when_it_is_stopped(make: MakeServices) -> None:
    services = make("signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); serve(sys.argv[1])")
    services.start()

    assert failure(services.stop) == (
        "the service api failed when it was stopped: it exited with code 7"
    )


def test_it_ignores_sigterm(make: MakeServices) -> None:
    services = make(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); serve(sys.argv[1])", stop_timeout="300ms"
    )
    services.start()

    assert failure(services.stop) == (
        "the service api did not end within 0.3 s of SIGTERM, so benchgate killed it"
    )
    assert refuses(services.values["port"])


def test_a_command_can_stop_it(make: MakeServices) -> None:
    services = make(
        "open('pid', 'w').write(str(os.getpid())); serve(sys.argv[1])",
        stop="sh -c 'kill $(cat pid)'",
    )

    services.start()
    services.stop()

    assert refuses(services.values["port"])


def test_a_command_that_stops_it_may_fail(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])", stop="false")
    services.start()

    assert failure(services.stop) == (
        "the service api has a `stop` that failed: it exited with code 1"
    )
    assert refuses(services.values["port"])


STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(300)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="without /proc, only its group is seen")
@pytest.mark.parametrize("leaves", [False, True], ids=["in its group", "in a group of its own"])
def test_it_leaves_a_child_behind(
    make: MakeServices,
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
    *,
    leaves: bool,
) -> None:
    program = f"""
import subprocess
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
command = [sys.executable, "-c", {STUBBORN!r}]
child = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session={leaves})
child.stdout.readline()
print("child", child.pid, flush=True)
serve(sys.argv[1])
"""
    services = make(program)
    services.start()
    child = int(services.log_of("api").text().partition("child ")[2].split()[0])

    error = failure(services.stop)

    assert error.startswith("the service api left 1 process behind, which benchgate killed: ")
    assert f"process {child} (" in error
    assert eventually(lambda: not alive(child))  # the system takes a moment to end it


def test_all_are_stopped_if_one_fails(make: MakeServices) -> None:
    services = make("serve(sys.argv[1])", "serve(sys.argv[1])", "time.sleep(0.2); sys.exit(1)")

    assert "server2" in failure(services.start)
    assert all(refuses(port) for port in services.values.values())


def test_a_port_that_is_taken_meanwhile_is_replaced(make: MakeServices) -> None:
    with closing(socket.socket()) as other:
        other.bind((HOST, 0))
        other.listen()
        taken = other.getsockname()[1]
        ports = itertools.chain([taken], iter(free_port, 0))
        services = make(
            "serve(sys.argv[1])",
            pick_port=lambda: next(ports),
            ready={"log": "^listening$"},
        )

        services.start()

        assert services.values["port"] != str(taken)
        services.stop()


def test_a_fixed_port_that_is_taken_is_a_failure(make: MakeServices) -> None:
    with closing(socket.socket()) as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        services = make(f"serve({port})", ready={"log": "^listening$"})

        assert "ended before it was ready: it exited with code 1" in failure(services.start)
        assert "Address already in use" in services.log_of("api").tail()


def test_it_is_stopped_quickly_after_an_interruption(make: MakeServices) -> None:
    services = make("signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); serve(sys.argv[1])")
    services.start()

    services.stop_quickly()

    assert refuses(services.values["port"])


def test_a_large_log_is_trimmed(make: MakeServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchgate.measure.scenarios.service_log.MOST_BYTES", 1000)
    monkeypatch.setattr("benchgate.measure.scenarios.service_log._KEPT_BYTES", 100)
    services = make("print('x' * 5000, flush=True); serve(sys.argv[1])")
    services.start()

    services.trim_logs()

    answer(services.values["port"])
    text = services.log_of("api").text()
    assert len(text) < 200
    assert text.startswith("[benchgate removed what came before]")
    assert text.endswith("listening\n")
    services.stop()


def test_the_guardian_kills_it_if_benchgate_dies(
    tmp_path: Path, alive: Callable[[int], bool], eventually: Callable[..., bool]
) -> None:
    (tmp_path / "server.py").write_text(SERVER + "serve(sys.argv[1])")
    program = f"""
import os, time
from pathlib import Path
from benchgate.load.scenario import Service
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.processes import Guardian
from benchgate.measure.scenarios.services import ServicePlace, Services
root = Path({str(tmp_path)!r})
with Guardian.start() as guardian:
    service = Service.model_validate({{
        "start": {sys.executable!r} + " {{root}}/server.py {{port}}", "ready": {{"tcp": True}}
    }})
    place = ServicePlace(
        Arm(ArmName.HEAD, root, root / "env"), dict(os.environ), {{"root": str(root)}}, root, None
    )
    services = Services([service], place, guardian)
    services.start()
    print(services._running[0]._process.pid, flush=True)
    time.sleep(60)
"""
    benchgate = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert benchgate.stdout is not None
    service = int(benchgate.stdout.readline())
    assert alive(service)

    benchgate.kill()
    benchgate.wait()
    benchgate.stdout.close()

    assert eventually(lambda: not alive(service))
