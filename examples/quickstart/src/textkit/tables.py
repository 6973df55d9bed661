"""Tables from one format to another."""

import csv
import io
import json


def csv_to_json(text: str) -> str:
    """A JSON array with one object for each row below the header; "12" becomes the number 12."""
    rows = [
        {name: _number_or_text(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
    return json.dumps(rows)


def _number_or_text(cell: str) -> float | str:
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell
