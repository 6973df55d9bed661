from __future__ import annotations

import io
import itertools
import stat
import struct
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchgate.errors import FormatError
from benchgate.github.artifacts import Limits, read_member

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "benchgate-baseline.default"
EXPECTED = {"result.json", "result.json.gz"}
RESULT = (
    b'{"schema": 3, "benchmarks": [' + b'{"name": "parse", "samples": [0.25, 0.125]},' * 9 + b"]}"
)
LIMITS = Limits(archive_bytes=100_000, member_bytes=1_000_000, ratio=300)
CENTRAL = b"PK\x01\x02"
DEFLATED = zipfile.ZIP_DEFLATED
UNREAD = "a compression that benchgate does not read"


def packed(*files: tuple[str | zipfile.ZipInfo, bytes], method: int = DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content, method)
    return stream.getvalue()


def patched(data: bytes, form: str, local: int | None, central: int, value: int) -> bytes:
    """Change one field of the one entry in both its headers, or only in the directory's."""
    changed = bytearray(data)
    if local is not None:
        struct.pack_into(form, changed, local, value)
    struct.pack_into(form, changed, data.rindex(CENTRAL) + central, value)
    return bytes(changed)


def with_flag(data: bytes) -> bytes:
    return patched(data, "<H", 6, 8, 0x1)


def with_method(data: bytes, method: int) -> bytes:
    return patched(data, "<H", 8, 10, method)


def with_size(data: bytes, size_bytes: int) -> bytes:
    return patched(data, "<L", 22, 24, size_bytes)


def with_crc(data: bytes, crc: int) -> bytes:
    return patched(data, "<L", 14, 16, crc)


def with_offset(data: bytes, offset: int) -> bytes:
    return patched(data, "<L", None, 42, offset)


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("result.json")
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def zip64_claiming(size_bytes: int) -> bytes:
    info = zipfile.ZipInfo("result.json")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, archive.open(info, "w", force_zip64=True) as file:
        file.write(RESULT)
    extra = struct.pack("<HHQ", 1, 8, size_bytes)
    data = bytearray(with_size(stream.getvalue(), 0xFFFFFFFF))
    entry = data.rindex(CENTRAL)
    struct.pack_into("<H", data, entry + 30, len(extra))
    at = entry + 46 + len("result.json")
    data[at:at] = extra
    (directory_bytes,) = struct.unpack_from("<L", data, len(data) - 10)
    struct.pack_into("<L", data, len(data) - 10, directory_bytes + len(extra))
    return bytes(data)


def overlapping(names: Iterable[str]) -> bytes:
    """Many entries of the directory for the same compressed bytes, as flat bombs have them."""
    data = packed(("result.json", RESULT))
    at, end = data.rindex(CENTRAL), len(data) - 22
    entry = data[at:end]
    entries = b"".join(entry.replace(b"result.json", name.encode()) for name in names)
    count = entries.count(CENTRAL)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(entries), at, 0)
    return data[:at] + entries + tail


def refused(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(FormatError) as raised:
        read_member(data, EXPECTED, NAME, limits)
    assert raised.value.message.startswith(f"artifact '{NAME}': ")
    assert raised.value.hint
    return raised.value.message.partition(": ")[2]


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, DEFLATED])
def test_the_one_file_is_read(name: str, method: int) -> None:
    assert read_member(packed((name, RESULT), method=method), EXPECTED, NAME) == RESULT


def test_what_is_written_as_a_stream_is_read() -> None:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

        def tell(self) -> int:
            raise io.UnsupportedOperation

    stream = Unseekable()
    with zipfile.ZipFile(stream, "w", DEFLATED) as archive:
        archive.writestr("result.json", RESULT)
    data = stream.getvalue()
    assert b"PK\x07\x08" in data
    assert read_member(data, EXPECTED, NAME) == RESULT


def test_large_numbers_where_small_ones_would_do_are_read() -> None:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w") as archive,
        archive.open("result.json", "w", force_zip64=True) as file,
    ):
        file.write(RESULT)
    assert read_member(stream.getvalue(), EXPECTED, NAME) == RESULT


@pytest.mark.parametrize(
    "name",
    [
        *("../result.json", "/result.json", "a/result.json", "./result.json", "result.json/"),
        *("C:\\result.json", "RESULT.JSON", "result.json ", "result.zip", "", "other"),
        *("result.json\0.exe", "re\u202esult.json"),
    ],
)
def test_other_names_are_refused(name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = name
    assert refused(packed((info, RESULT))) == (
        "it must hold one file, result.json or result.json.gz, and nothing else"
    )


@pytest.mark.parametrize(
    "data",
    [
        packed(),
        overlapping(["result.json"] * 2),
        packed(("result.json", RESULT), ("result.json.gz", RESULT)),
        packed(("result.json", RESULT), ("../evil", b"")),
        packed(("inner.zip", packed(("result.json", RESULT)))),
        overlapping(["result.json", "result_json"]),
        overlapping(f"result{n:05}" for n in range(1000)),
    ],
    ids=itertools.count(),
)
def test_other_members_are_refused(data: bytes) -> None:
    assert "one file" in refused(data)


def test_a_zip_within_is_content_and_nothing_more() -> None:
    inner = packed(("result.json", RESULT))
    assert read_member(packed(("result.json", inner)), EXPECTED, NAME) == inner


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (packed((link(), b"/etc/passwd")), "not a plain file"),
        (with_flag(packed(("result.json", RESULT))), "encrypted"),
        (
            packed(("result.json", RESULT), method=zipfile.ZIP_BZIP2),
            "compression that benchgate does not read",
        ),
        (
            packed(("result.json", RESULT), method=zipfile.ZIP_LZMA),
            "compression that benchgate does not read",
        ),
        (
            with_method(packed(("result.json", RESULT)), 99),
            "compression that benchgate does not read",
        ),
    ],
)
def test_other_kinds_of_members_are_refused(data: bytes, why: str) -> None:
    assert why in refused(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"\x1f\x8b" + bytes(90),
        packed(("result.json", RESULT))[:-1],
        packed(("result.json", RESULT))[:60],
        packed(("result.json", RESULT))[60:],
        with_crc(packed(("result.json", RESULT)), 1),
        with_size(packed(("result.json", RESULT)), 10),
        with_size(packed(("result.json", RESULT)), len(RESULT) + 1),
        with_offset(packed(("result.json", RESULT)), 4),
        with_offset(packed(("result.json", RESULT)), 0xFFFFFFF0),
        with_method(packed(("result.json", RESULT)), zipfile.ZIP_STORED),
        packed(("result.json", RESULT)).replace(b"result.json", b"rEsult.json", 1),
    ],
    ids=itertools.count(),
)
def test_damaged_archives_are_refused(data: bytes) -> None:
    assert refused(data) == "its zip archive is damaged or cut off"


def test_a_bomb_is_refused_by_its_ratio() -> None:
    bomb = packed(("result.json", bytes(900_000)))
    assert len(bomb) * LIMITS.ratio < 900_000
    assert "it unpacks to more than" in refused(bomb)


def test_a_bomb_is_refused_by_its_size() -> None:
    data = packed(("result.json", bytes(1_000_001)), method=zipfile.ZIP_STORED)
    limits = Limits(archive_bytes=2_000_000, member_bytes=1_000_000)
    assert "it unpacks to more than" in refused(data, limits)
    assert "it is larger than" in refused(data, Limits(archive_bytes=1_000_000))


@pytest.mark.parametrize("size_bytes", [2**63 - 1, 2**64 - 1])
def test_a_size_of_64_bits_is_refused_before_it_is_read(size_bytes: int) -> None:
    assert "it unpacks to more than" in refused(zip64_claiming(size_bytes))


def test_a_bomb_that_denies_it_does_not_fill_the_memory() -> None:
    bomb = with_size(packed(("result.json", bytes(50_000_000))), 20_000)
    tracemalloc.start()
    try:
        assert "damaged" in refused(bomb)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_bomb_of_entries_does_not_fill_the_memory() -> None:
    bomb = overlapping(f"result{n:05}" for n in range(20_000))
    tracemalloc.start()
    try:
        refused(bomb, Limits())
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_name_of_the_artifact_is_shown_harmlessly() -> None:
    with pytest.raises(FormatError) as raised:
        read_member(b"", EXPECTED, "a\n::error::\u202eb\x1b[2J")
    assert raised.value.message.isprintable()


SEEDS = (
    packed(("result.json", RESULT)),
    packed(("result.json", RESULT), method=zipfile.ZIP_STORED),
    packed(("result.json", RESULT), ("b", b"")),
    zip64_claiming(len(RESULT)),
)


PLACES = st.integers(0, 60) | st.integers(-110, -1) | st.integers(0, 700)
BYTES = st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)


@settings(max_examples=500)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(PLACES, BYTES), max_size=6),
    st.none() | st.integers(0, 700),
)
def test_any_damage(data: bytes, changes: list[tuple[int, int]], end: int | None) -> None:
    damaged = bytearray(data)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    if end is not None:
        del damaged[end:]
    try:
        content = read_member(bytes(damaged), EXPECTED, NAME, LIMITS)
    except FormatError:
        return
    assert content == RESULT
