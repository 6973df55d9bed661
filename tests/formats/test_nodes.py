"""Values of JSON that no tool writes on purpose."""

from __future__ import annotations

import pytest

from benchgate.errors import FormatError
from benchgate.formats.any_tool import bencher
from benchgate.formats.contents import ForeignFile, read_json, read_json_lines
from benchgate.formats.k6 import k6
from benchgate.model.document import OTHER_FILE


def test_a_name_that_is_there_twice_is_an_error_where_keys_are_names() -> None:
    text = b'{"a": {"latency": {"value": 1}}, "a": {"latency": {"value": 2}}}'
    with pytest.raises(FormatError, match=r"^it: the key 'a' is there twice in one object"):
        bencher.parse(ForeignFile("it", text))
    assert read_json(ForeignFile("it", text)).value == {"a": {"latency": {"value": 2}}}


def test_a_file_of_very_many_values_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(FormatError, match=r"^it: holds more than 5000000 arrays"):
        read_json(ForeignFile("it", b"[" + b"[]," * OTHER_FILE.containers + b"[]]"))


def test_only_a_line_feed_ends_a_line_of_json() -> None:
    text = '{"a": "\u2028\x85"}\r\n\n{"a": 1}\n'
    lines = list(read_json_lines(ForeignFile("it", text.encode())))
    assert [(number, node and node.value) for number, node in lines] == [
        (1, {"a": "\u2028\x85"}),
        (3, {"a": 1}),
    ]


def test_a_summary_of_k6_that_names_a_metric_twice_is_an_error() -> None:
    text = b'{"root_group": {}, "metrics": {"checks": {"value": 1}, "checks": {"value": 0}}}'
    with pytest.raises(FormatError, match="'checks' is there twice"):
        k6.parse(ForeignFile("it", text))
