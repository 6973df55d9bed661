"""The function in C, with texts of different lengths."""

from extension import escape  # type: ignore[import-not-found]

TEXT = "<strong>Hello & welcome</strong>, 'friend' of \"mine\". "
SHORT, MIDDLE, LONG, LONGEST = (TEXT * count for count in (1, 4, 20, 80))


def bench_short() -> None:
    escape(SHORT)


def bench_middle() -> None:
    escape(MIDDLE)


def bench_long() -> None:
    escape(LONG)


def bench_longest() -> None:
    escape(LONGEST)
