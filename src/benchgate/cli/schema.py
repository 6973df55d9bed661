"""`benchgate schema`."""

from __future__ import annotations

import json

import click

from benchgate.config.reference import config_schema
from benchgate.model.codec import result_schema, statistics_schema, verdict_schema

_SCHEMAS = {
    "config": config_schema,
    "result": result_schema,
    "verdict": verdict_schema,
    "statistics": statistics_schema,
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
