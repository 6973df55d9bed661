"""The report that replaces a verdict when something failed."""

from __future__ import annotations

from urllib.parse import quote

from benchgate.report.escape import code_block, html_text, plain_block, plain_line, prose
from benchgate.report.view import NAME_LIMIT

_ICON = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
_MESSAGE_LIMIT = 1000


def render_failure(
    message: str, *, hint: str, details: str, head: str, name: str = "", run_url: str = ""
) -> str:
    """The failure as GitHub's markdown; ends in a newline.

    Args:
        message: what happened, as the log has it.
        details: output of the program that failed; of many lines the last ones.
        head: the commit that should have been judged.
        name: tells several verdicts on the same page apart; "" if there is only one.
        run_url: where the log is; "" if it is on this page.
    """
    first = f"{plain_line(name, NAME_LIMIT)}: no verdict" if name else "no verdict"
    last = f"There is no verdict on {prose(head[:7])}; earlier verdicts are about other commits."
    blocks = [
        f"### {_ICON} {prose(first)}: {prose(plain_line(message, _MESSAGE_LIMIT))}",
        prose(plain_line(hint, _MESSAGE_LIMIT)) if hint else "",
        _folded(plain_block(details)) if details.strip() else "",
        f"<sub>{last}{_link(run_url)}</sub>",
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _link(url: str) -> str:
    return f" [The run](<{quote(url, safe=':/?#=&%')}>)." if url else ""


def _folded(text: str) -> str:
    title = html_text("What it printed")
    return f"<details><summary>{title}</summary>\n\n{code_block(text)}\n\n</details>"
