"""What a user of textkit waits for.

Nothing of benchgate is imported: a function whose name starts with `bench_` is a benchmark, and
its attributes say the rest.
"""

from textkit import closest, csv_to_json, slugify, word_counts

TITLES = [
    "Über uns: Geschichte, Ziele & Menschen",
    "Café Crème, 25 years on",
    "  What's new in version 3.0?  ",
    "Why the 95th percentile?",
    "Smørrebrød & Crème brûlée - a menu",
    "First steps",
    "Ångström, Curie, Noether: three lives",
    "100 % of nothing",
]
SENTENCE = "It's the small things, and the small things only, that the reader's eye returns to.\n"
VOCABULARY = ["measure", "median", "margin", "baseline", "commit", "machine", "sample", "verdict"]


def bench_slugify() -> None:
    for title in TITLES:
        slugify(title)


def bench_closest() -> None:
    closest("mesure", VOCABULARY)


def text_of(lines: int) -> str:
    return SENTENCE * lines


def bench_word_counts(text: str, lines: int) -> None:
    word_counts(text)


bench_word_counts.params = {"lines": [5, 50]}
bench_word_counts.setup = text_of


def table_of(rows: int) -> str:
    return "name,price,stock\n" + "".join(f"item {i},{i / 4},{i % 7}\n" for i in range(rows))


def bench_csv_to_json(table: str, rows: int) -> None:
    csv_to_json(table)


bench_csv_to_json.params = {"rows": [100]}
bench_csv_to_json.setup = table_of
