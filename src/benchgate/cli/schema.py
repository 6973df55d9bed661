"""`benchgate schema`."""

from __future__ import annotations

import json

import click

from benchgate.config.reference import config_schema
from benchgate.load.reference import scenario_schema
from benchgate.model.codec import HISTORY, RESULT, STATISTICS, VERDICT

_SCHEMAS = {
    "config": config_schema,
    "scenario": scenario_schema,
    "result": RESULT.json_schema,
    "verdict": VERDICT.json_schema,
    "statistics": STATISTICS.json_schema,
    "history": HISTORY.json_schema,
}


@click.command("schema")
@click.argument("kind", type=click.Choice(list(_SCHEMAS)))
def command(kind: str) -> None:
    """Print the JSON schema of a file that benchgate reads or writes.

    \b
    Example:
      benchgate schema config > benchgate.schema.json
    """
    click.echo(json.dumps(_SCHEMAS[kind](), indent=2, ensure_ascii=False))
