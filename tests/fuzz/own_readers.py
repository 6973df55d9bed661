"""The readers of what benchgate itself wrote, of what people write for it, and of answers.

Each takes bytes. What it refuses, it refuses with an error of its own.
"""

from __future__ import annotations

import json
import pickle
import random
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from tests.fuzz.mutations import damaged

from benchgate.baselines.stored_files import read_result
from benchgate.ci.stored_artifacts import MEMBERS
from benchgate.cli.init import FOLDER, existing_workflow
from benchgate.config import load
from benchgate.config.resolved import covers, matches
from benchgate.errors import BenchgateError, ConfigError
from benchgate.formats.contents import ForeignFile
from benchgate.github import objects
from benchgate.github.answers import Answer
from benchgate.github.artifacts import read_member
from benchgate.github.client import parse_run_url
from benchgate.github.runner import EVENTS, read_context
from benchgate.history.run_rows import RunReader
from benchgate.load import cluster
from benchgate.load.drivers.driver import TargetError
from benchgate.load.launch import LoadOrder, LoadReply, Parcel, make_launch, parcel_of, unpacked
from benchgate.load.parameters import parsed
from benchgate.load.scenario_file import check_variables, read_scenario, redactor_of
from benchgate.load.signature import depends_on_side, own_files, signature
from benchgate.measure.builds.kept_builds import read_about
from benchgate.measure.workers.replies import read_pid, read_reply, read_sample
from benchgate.model.codec import decode_result
from benchgate.model.history_document import HISTORY
from benchgate.model.statistics import STATISTICS
from benchgate.model.verdict import VERDICT
from benchgate.page.history_page import written_before
from benchgate.session.choice import parse_shard
from benchgate.units import parse_duration_s, parse_ratio_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_HERE = Path(__file__).parent
_NAME = "it"
_RUNS = RunReader()  # it reads damaged files beside whole ones
_STEPS = (
    *("file", "open", "calibrate", "time", "loops", "begin", "count", "peak", "end", "value"),
    *("allocations", "observe", "close", "sample"),
)
_REFUSED = (BenchgateError, ValidationError)
# A worker of a cluster tells the generator what the system refuses.
_ANY_REFUSAL = (TargetError, OSError, ValueError)
_ORDER, _REPLY = TypeAdapter(LoadOrder), TypeAdapter(LoadReply)


@dataclass(frozen=True, slots=True)
class OwnReader:
    """A reader of bytes.

    Attributes:
        read: gives None or False for what it refuses, or raises.
        refusals: what else it may raise.
    """

    name: str
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()

    @property
    def finds(self) -> Path:
        """The folder of the inputs that once were too much for it."""
        return _HERE / "finds" / self.name

    def seeds(self) -> list[bytes]:
        """Give genuine inputs, and those that once were too much for it."""
        folders = (_HERE / "seeds" / self.name, self.finds)
        return [file.read_bytes() for each in folders for file in sorted(each.glob("*"))]

    def inputs(self, seed: int) -> Iterator[ForeignFile]:
        """Damage seeds, without end; the first inputs are the seeds."""
        rng = random.Random(f"{self.name}/{seed}")  # noqa: S311 - to repeat the same faults
        seeds = self.seeds()
        yield from (ForeignFile(_NAME, each) for each in seeds)
        while True:
            yield ForeignFile(_NAME, damaged(rng.choice(seeds), rng, seeds))

    def check(self, source: ForeignFile, _index: int) -> bool:
        """Read an input; give whether it was accepted. A refusal has a message."""
        refusals: tuple[type[Exception], ...] = (*_REFUSED, *self.refusals)
        try:
            return self.read(source.data) not in {None, False}
        except refusals as error:
            assert str(error).strip()  # noqa: PT017 - any error
            return False


def _from_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Read what is in a file of this name."""

    def read_bytes(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(data)
            return read(path) is not None

    return read_bytes


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Read text that was decoded before."""
    return lambda data: read(data.decode("utf-8", "replace")) is not None


def _configuration(path: Path) -> object:
    config = load(path.parent)
    return config.effective("any", "time")


def _scenario(path: Path) -> object:
    """Read a scenario, and ask all that is asked of one before it is run."""
    found = read_scenario(path, _NAME)
    own_files(found)
    for target in found.targets:
        assert signature(found, target)
        depends_on_side(found, target)
        redactor_of(found, target, {"X": "x"})("text")
        with suppress(ConfigError):
            check_variables(found, target, {})
    return found


def _reply(data: bytes) -> object:
    sample, pid = read_sample(data), read_pid(data)
    found = [read_reply(step, data) for step in _STEPS]
    return bool(sample or pid or any(each is not None for each in found))


def _workflow(path: Path) -> object:
    """Read a workflow where a repository has it."""
    workflow = path.parent / FOLDER / path.name
    workflow.parent.mkdir(parents=True)
    path.rename(workflow)
    return existing_workflow(path.parent)


def _cluster_order(path: Path) -> object:
    """Send a worker of a cluster what the lines say, and then a scenario; nothing is loaded.

    The lines are the order, when it begins, and the scenario's variables.
    """
    head, _, scenario = path.read_bytes().partition(b"\n\n")
    line, begin, *variables = head.split(b"\n")
    path.write_bytes(scenario)
    folder, environ = path.parent / "arm", dict(one.decode().split("=", 1) for one in variables)
    order = replace(_ORDER.validate_json(line), folder=str(folder), scratch=str(path.parent))
    found = read_scenario(path, _NAME)
    for file in (one for one in own_files(found) if ".." not in one):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(b"SELECT :a")
    launch = make_launch(order, found, environ)
    parcel: Parcel = pickle.loads(pickle.dumps(parcel_of(launch, environ, (0, 1))))  # noqa: S301
    launch.driver.close()
    cluster.prepare(_NAME, parcel)
    state, _ = cluster.tell(_NAME, from_json(begin))
    with unpacked(parcel):
        cluster.forget(_NAME)
    return state


def _cluster_answer(data: bytes) -> object:
    """Read what the scheduler and the workers of a cluster say before the load."""
    answer = from_json(data)
    problems = list(cluster.version_problems(answer))
    assert all(each.strip() for each in problems)
    return not problems


def _globs(data: bytes) -> object:
    glob, _, name = data.decode("utf-8", "replace").partition("\n")
    return (matches(glob, name), covers(glob, name)) != (False, False)


def _event(data: bytes) -> object:
    """Read a payload, as that of every event; its first line is the event's own name."""
    name, _, payload = data.decode("utf-8", "replace").partition("\n")
    for event in {name, *EVENTS} if payload else EVENTS:
        try:
            read_context({**_ENVIRON, "GITHUB_EVENT_NAME": event}, lambda _: payload)
        except BenchgateError as error:
            assert error.message  # noqa: PT017 - any error
        else:
            return True
    return False


def _variables(data: bytes) -> object:
    lines = data.decode("utf-8", "replace").splitlines()
    pairs = [line.partition("=") for line in lines]
    environ = _ENVIRON | {name: value for name, _, value in pairs if name in _ENVIRON}
    return read_context(environ, lambda _: _SCHEDULE)


def _api_answer(data: bytes) -> object:
    """Read an answer as every kind of object, and as a failure."""
    said = Answer(_HOST, elsewhere=False, status=500, headers={}, body=data).message
    assert said.isprintable()
    try:
        document: Any = from_json(data)
    except ValueError:
        return False
    read = 0
    for each in vars(objects).values():
        is_object = isinstance(each, type) and issubclass(each, objects.ApiObject)
        if is_object and isinstance(document, dict):
            try:
                each.read(document, "/a")
            except BenchgateError:
                continue
            read += 1
    return bool(read)


_HOST = "api.github.com"
_SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
_SCHEDULE = json.dumps(
    {
        "schedule": "0 0 * * *",
        "repository": {"id": 1, "full_name": "octo-org/hello", "default_branch": "main"},
    }
)
_ENVIRON = {
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_EVENT_PATH": "/event.json",
    "GITHUB_REPOSITORY": "octo-org/hello",
    "GITHUB_REPOSITORY_ID": "",
    "GITHUB_SHA": _SHA,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_WORKFLOW": "benchgate",
    "GITHUB_JOB": "measure",
    "GITHUB_ACTOR": "octocat",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "RUNNER_OS": "Linux",
}

OWN_READERS: Mapping[str, OwnReader] = {
    each.name: each
    for each in (
        OwnReader("configuration", _from_file("benchgate.toml", _configuration)),
        OwnReader("pyproject", _from_file("pyproject.toml", _configuration)),
        OwnReader("result", lambda data: decode_result(data, _NAME) is not None),
        OwnReader("result-file", _from_file("a.json.gz", read_result)),
        OwnReader("verdict", lambda data: VERDICT.read(data, _NAME) is not None),
        OwnReader("statistics", lambda data: STATISTICS.read(data, _NAME) is not None),
        OwnReader("history", lambda data: HISTORY.read(data, _NAME) is not None),
        OwnReader("stored-run", lambda data: _RUNS.read(data, _NAME) is not None),
        OwnReader("scenario-toml", _from_file("a.toml", _scenario)),
        OwnReader("scenario-json", _from_file("a.json", _scenario)),
        OwnReader("scenario-yaml", _from_file("a.yaml", _scenario)),
        OwnReader("parameter", _text(parsed), (ValueError,)),
        OwnReader("event", _event),
        OwnReader("variables", lambda data: _variables(data) is not None),
        OwnReader("api-answer", _api_answer),
        OwnReader("artifact", lambda data: read_member(data, MEMBERS, _NAME) is not None),
        OwnReader("worker-reply", _reply),
        OwnReader("load-order", lambda data: _ORDER.validate_json(data) is not None),
        OwnReader("load-reply", lambda data: _REPLY.validate_json(data) is not None),
        OwnReader("cluster-order", _from_file("a.toml", _cluster_order), _ANY_REFUSAL),
        OwnReader("cluster-answer", _cluster_answer, (ValueError,)),
        OwnReader("workflow", _from_file("ci.yml", _workflow)),
        OwnReader("kept-build", _from_file("about.json", lambda path: read_about(path.parent))),
        OwnReader("site-marker", lambda data: written_before(data) is not None, (ValueError,)),
        OwnReader("glob", _globs),
        OwnReader("duration", _text(parse_duration_s), (ValueError,)),
        OwnReader("percentage", _text(parse_ratio_change), (ValueError,)),
        OwnReader("shard", _text(parse_shard)),
        OwnReader("run-url", _text(parse_run_url)),
    )
}
"""Each by its name."""
