from __future__ import annotations

import multiprocessing
import os
import resource
import socket
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.history.conftest import record_at

from benchgate.errors import FormatError, UsageError
from benchgate.history.adding import add_runs
from benchgate.history.run_rows import MOST_BYTES, SCHEMA, VERSION, RunReader, encode_run, to_table
from benchgate.history.sources import read_sources
from benchgate.history.store import Store
from benchgate.model.result import SkippedResult

VALUES_S = {"parse/large": 1e-3, "text/slug": 2e-5}


@pytest.fixture(params=["folder", "file", pytest.param("s3", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same store in each kind of place."""
    if request.param == "s3":
        return str(request.getfixturevalue("s3"))
    folder = tmp_path / "not there" / "yet"
    return str(folder) if request.param == "folder" else folder.as_uri()


def ids_in(address: str) -> list[str]:
    return sorted(one.id for one in read_sources([address], str).runs)


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_runs_are_appended_and_read_anywhere(address: str) -> None:
    first, second = record_at(1, VALUES_S), record_at(2, VALUES_S)
    store = Store.at(address)
    assert store.ids() == frozenset()
    done = add_runs(store, [first], None, str)
    assert (done.added, done.present, done.skipped) == ((first,), (), ())
    done = add_runs(Store.at(address), [first, second, second], None, str)
    assert (done.added, done.present) == ((second,), (first, second))
    assert ids_in(address) == sorted([first.id, second.id])


def test_a_file_holds_what_is_known_of_its_run(tmp_path: Path) -> None:
    record = record_at(1, VALUES_S)
    Store.at(str(tmp_path)).add(record, str)
    table = pq.read_table(only(tmp_path))
    assert table.schema.names == SCHEMA.names
    row = table.to_pylist()[0]
    assert (row["run"], row["sha"], row["ref"]) == (record.id, f"{1:040x}", "main")
    assert (row["benchmark"], row["metric"], row["statistic"]) == ("parse/large", "time", "p25")
    assert (row["unit"], row["better"], row["launches"]) == ("s", "lower", 5)
    assert row["low"] <= row["value"] <= row["high"]
    assert row["value"] == pytest.approx(1e-3, rel=1e-5)
    assert row["machine"] == "AMD EPYC 7763, 4 cores, Debian 12"


def test_hostile_names_are_kept_as_they_are_and_secrets_are_not(tmp_path: Path) -> None:
    names = ["a'; DROP TABLE stored; --", "\x1b[31m\u202e", 'x"/../../y', "\udc80 no utf-8"]
    record = record_at(1, dict.fromkeys(names, 1e-3) | {"token=hunter2": 1.0})
    Store.at(str(tmp_path)).add(record, lambda text: text.replace("hunter2", "[removed]"))
    found = pq.read_table(only(tmp_path)).column("benchmark").to_pylist()
    assert found == [*names[:3], "\\udc80 no utf-8", "token=[removed]"]


def test_what_is_broken_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    store = Store.at(str(tmp_path))
    store.add(record_at(1, VALUES_S), str)
    whole = encode_run(record_at(2, VALUES_S), str)
    (tmp_path / f"run-{'1' * 24}.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / f"run-{'2' * 24}.parquet").write_bytes(b"")
    table = pq.read_table(pa.BufferReader(whole))
    newer = {b"benchgate_history": str(VERSION + 1).encode()}
    pq.write_table(table.replace_schema_metadata(newer), tmp_path / f"run-{'3' * 24}.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / f"run-{'4' * 24}.parquet")
    fewer = table.drop_columns(["value"]).replace_schema_metadata(SCHEMA.metadata)
    pq.write_table(fewer, tmp_path / f"run-{'5' * 24}.parquet")
    (tmp_path / "run-of-somebody.parquet").write_bytes(b"not ours")
    found = list(store.read(RunReader()))
    skipped = {one.what[4]: one.reason for one in found if isinstance(one, SkippedResult)}
    assert len(found) == 6
    assert sorted(skipped) == ["1", "2", "3", "4", "5"]
    assert skipped["1"].startswith("not a readable Parquet file: ")
    assert skipped["3"] == ("version 2 was written by a newer benchgate; this one reads up to 1")
    assert skipped["4"] == "is a Parquet file, but not one of benchgate"


def test_a_file_that_ends_the_reader_costs_only_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    aborts = Path(__file__).with_name("aborts.parquet").read_bytes()
    records = [record_at(hour, VALUES_S) for hour in range(4)]
    for record in records:
        Store.at(str(tmp_path)).add(record, str)
    damaged = [f"run-{digit * 24}.parquet" for digit in "08f"]
    for name in damaged:
        (tmp_path / name).write_bytes(aborts)
    found = read_sources([str(tmp_path)], str)
    assert {one.id for one in found.runs} == {record.id for record in records}
    assert len(found.reader.keys) == len(records[0].measured)
    why = "it is damaged: reading it ended with SIGABRT"
    assert found.skipped == [SkippedResult(name, why) for name in damaged]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("better", "sideways", "a metric has no direction"),
        ("display_unit", "weeks", "a display unit is unknown"),
        ("benchmark", "", "a name is empty"),
        ("sha", None, "not a readable Parquet file: Casting field 'sha' with null values"),
        ("value", None, "not a readable Parquet file"),
        ("run", ["a", "b"], "holds 2 runs, and not one"),
        ("machine_key", ["a", "b"], "does not say the same of its run in each row: machine_key"),
        ("suite", ["a", "b"], "does not say the same of its run in each row: suite"),
        ("benchmark", ["a", "a"], "holds a value twice"),
        ("started", "yesterday", "has no valid time"),
        ("started", "2026-1-1T0:0:0Z", "has no valid time"),
        ("started", "2026-01-01T00:00:00.xyzZ", "has no valid time"),
        ("committed", "2026-02-31T00:00:00Z", "has no valid time"),
        ("value", ["fast", "slow"], "not a readable Parquet file"),
    ],
)
def test_rows_that_benchgate_would_not_write(
    tmp_path: Path, column: str, value: object, why: str
) -> None:
    table = pq.read_table(pa.BufferReader(encode_run(record_at(1, VALUES_S), str)))
    values = value if isinstance(value, list) else [value] * len(table)
    kind = pa.string() if isinstance(values[0], str) else SCHEMA.field(column).type
    place = table.schema.get_field_index(column)
    changed = table.set_column(place, pa.field(column, kind), pa.array(values, kind))
    pq.write_table(changed, tmp_path / f"run-{'1' * 24}.parquet")
    (found,) = Store.at(str(tmp_path)).read(RunReader())
    assert isinstance(found, SkippedResult)
    assert found.reason.startswith(why)


def test_runs_with_the_same_benchmarks_are_read_alike(tmp_path: Path) -> None:
    records = [
        record_at(hour, {**VALUES_S, "late": 1.0} if hour == 3 else VALUES_S) for hour in range(5)
    ]
    for record in records:
        Store.at(str(tmp_path)).add(record, str)
    reader, alone = RunReader(), RunReader()
    read = {
        one.id: one
        for one in Store.at(str(tmp_path)).read(reader)
        if not isinstance(one, SkippedResult)
    }
    assert read.keys() == {record.id for record in records}
    for record in records:
        one, other = read[record.id], alone.rows(to_table([record], str))
        assert one.of_run == other.of_run
        assert one.values.tolist() == other.values.tolist()
        names, others = list(reader.keys), list(alone.keys)
        assert [names[n] for n in one.keys] == [others[n] for n in other.keys]
    arrays = {id(one.keys) for one in read.values()}
    assert len(arrays) == 2


@pytest.mark.parametrize("place", [0.2, 0.4, 0.6, 0.8, 0.97])
def test_a_damaged_file_beside_whole_ones_is_an_error_or_reads_as_text_and_numbers(
    place: float,
) -> None:
    reader = RunReader()
    reader.read(encode_run(record_at(1, VALUES_S), str), "first")
    data = bytearray(encode_run(record_at(2, VALUES_S), str))
    for at in range(int(place * len(data)), int(place * len(data)) + 40):
        data[at] ^= 0x55
    with suppress(FormatError):
        rows = reader.read(bytes(data), "second")
        assert rows.values.shape == (3, len(rows.keys))


def test_a_file_that_expands_too_far_is_left_out(tmp_path: Path) -> None:
    table = pq.read_table(pa.BufferReader(encode_run(record_at(1, VALUES_S), str)))
    place = table.schema.get_field_index("subject")
    long = pa.array(["x" * (MOST_BYTES + 1)] * len(table))
    path = tmp_path / f"run-{'1' * 24}.parquet"
    pq.write_table(table.set_column(place, "subject", long), path, compression="zstd")
    assert path.stat().st_size < MOST_BYTES // 100
    (found,) = Store.at(str(tmp_path)).read(RunReader())
    assert found == SkippedResult(path.name, "expands to more than 64 MiB, which is the limit")


def test_a_version_of_thousands_of_digits_is_shortened(tmp_path: Path) -> None:
    table = pq.read_table(pa.BufferReader(encode_run(record_at(1, VALUES_S), str)))
    version = {b"benchgate_history": b"9" * 5000}
    pq.write_table(table.replace_schema_metadata(version), tmp_path / f"run-{'1' * 24}.parquet")
    (found,) = Store.at(str(tmp_path)).read(RunReader())
    assert isinstance(found, SkippedResult)
    assert found.reason.startswith(f"version {'9' * 20} was written by a newer benchgate")


def test_files_are_read_in_batches_of_limited_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.at(str(tmp_path))
    for hour in range(5):
        store.add(record_at(hour, VALUES_S), str)
    size = max(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr("benchgate.history.store._BYTES_AT_ONCE", 2 * size)
    batches = []
    cat = store.files.cat

    def counting(paths: list[str], **more: str) -> object:
        batches.append(len(paths))
        return cat(paths, **more)

    monkeypatch.setattr(store.files, "cat", counting)
    assert len(list(store.read(RunReader()))) == 5
    assert batches == [2, 2, 1]


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    link = tmp_path / "store"
    link.symlink_to("gone")
    with pytest.raises(UsageError, match=r"symbolic link .*/store to gone leads nowhere"):
        read_sources([str(link)], str)
    with pytest.raises(UsageError, match=r"cannot make the folder .*/store to gone leads nowhere"):
        Store.at(str(link)).add(record_at(1, VALUES_S), str)
    link.unlink()
    link.symlink_to("store")
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        read_sources([str(link)], str)


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(2) as pool:
        pool.starmap(append_some, [(str(tmp_path), 0), (str(tmp_path), 4)])
    assert ids_in(str(tmp_path)) == sorted(record_at(hour, VALUES_S).id for hour in range(12))


def append_some(folder: str, start: int) -> None:
    store = Store.at(folder)
    add_runs(store, [record_at(hour, VALUES_S) for hour in range(start, start + 8)], None, str)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s4://bucket/x", "cannot open s4://bucket/x: Protocol not known: s4"),
        ("gs://bucket/x", "cannot open gs://bucket/x: Please install gcsfs"),
    ],
)
def test_an_address_that_nothing_opens(address: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        Store.at(address)
    assert raised.value.message.startswith(message)


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(UsageError) as raised:
        Store.at("nowhere://user:hunter2-hunter2@host/x")
    assert "hunter2" not in raised.value.message


@pytest.mark.slow
def test_a_bucket_that_is_not_there(s3: str) -> None:
    address = s3.replace("runs-of-hello", "somebody-elses")
    store = Store.at(address)
    with pytest.raises(UsageError, match=r"cannot write to s3://somebody-elses/hello: .*bucket"):
        store.add(record_at(1, VALUES_S), str)


@pytest.mark.slow
def test_a_server_that_does_not_answer(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    type(Store.at(s3).files).clear_instance_cache()
    with pytest.raises(UsageError, match="cannot read s3://runs-of-hello/hello: "):
        Store.at(s3).ids()


@pytest.mark.slow
def test_a_server_that_takes_the_call_and_says_nothing(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchgate.history.store._LONGEST_WAIT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        type(Store.at(s3).files).clear_instance_cache()
        with pytest.raises(UsageError, match=r"there was no answer within 0\.5 s"):
            Store.at(s3).ids()
        with pytest.raises(UsageError, match=r"cannot write to .* no answer within 0\.5 s"):
            Store.at(s3).add(record_at(1, VALUES_S), str)


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the process gets the same kind of error."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            import signal  # noqa: PLC0415 - in the child alone

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
            Store.at(str(tmp_path)).add(record_at(1, VALUES_S), str)
        except UsageError as error:
            code = 0 if error.message.startswith(f"cannot write {tmp_path}/run-") else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(UsageError, match=r"cannot write .*: Permission denied"):
        Store.at(str(folder)).add(record_at(1, VALUES_S), str)
    folder.chmod(0o000)
    with pytest.raises(UsageError, match=r"may not read .*locked: Permission denied"):
        Store.at(str(folder)).ids()
    folder.chmod(0o700)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot make the folder .*/file: File exists"):
        Store.at(str(tmp_path / "file")).add(record_at(1, VALUES_S), str)


def test_the_same_run_gives_the_same_file() -> None:
    record = record_at(1, VALUES_S)
    assert encode_run(record, str) == encode_run(record, str)
