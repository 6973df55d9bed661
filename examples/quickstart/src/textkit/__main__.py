"""The command line: `python -m textkit words FILE`."""

import argparse
import json
from pathlib import Path

from textkit import csv_to_json, parse_log, word_counts


def main() -> None:
    """Print what a file holds, as JSON."""
    parser = argparse.ArgumentParser(prog="textkit", description=main.__doc__)
    parser.add_argument("what", choices=["words", "table", "log"])
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    text = arguments.file.read_text(encoding="utf-8")
    if arguments.what == "words":
        print(json.dumps(word_counts(text)))
    elif arguments.what == "table":
        print(csv_to_json(text))
    else:
        print(json.dumps([vars(entry) for entry in parse_log(text.splitlines())]))


main()
