"""Reading access logs, the work that textkit is used for most."""

from pathlib import Path

from textkit import parse_log

LOG = Path(__file__).with_name("access.log")


def log_of(lines: int) -> list[str]:
    return LOG.read_text(encoding="utf-8").splitlines()[:lines]


def bench_parse_log(log: list[str], lines: int) -> None:
    parse_log(log)


bench_parse_log.params = {"lines": [10, 100]}
bench_parse_log.setup = log_of
