"""Writes what is said where there is no verdict."""

from __future__ import annotations

from benchgate.escape import (
    code_block,
    paragraph,
    plain_block,
    plain_line,
    prose,
    with_code,
)
from benchgate.model.verdict import Decision
from benchgate.report import words
from benchgate.report.links import NAME_LIMIT
from benchgate.report.markdown import folded
from benchgate.report.markdown_cells import (
    link,
)

_MESSAGE_LIMIT = 1000


def render_failure(
    message: str, *, hint: str, details: str, head: str, name: str = "", run_url: str = ""
) -> str:
    """The failure as GitHub's markdown; ends in a newline.

    Args:
        message: what happened, as the log has it.
        details: output of the program that failed; only its last lines are shown.
        head: the commit that should have been judged.
        name: tells several verdicts on the same page apart; "" if there is only one.
        run_url: address of the log; "" if it is on this page.
    """
    first = " \N{MIDDLE DOT} ".join(filter(None, (plain_line(name, NAME_LIMIT), "No verdict")))
    run = f" {link('The run', run_url)}." if run_url else ""
    last = f"There is no verdict on {prose(head[:7])}; earlier verdicts are about other commits."
    said = with_code(plain_line(message, _MESSAGE_LIMIT))
    blocks = [
        f"### {words.DECISION_ICONS[Decision.NO_VERDICT]} {prose(first)}: {said}",
        paragraph(with_code(plain_line(hint, _MESSAGE_LIMIT))),
        folded("What it printed", code_block(plain_block(details))) if details.strip() else "",
        f"<sub>{last}{run}</sub>",
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"
