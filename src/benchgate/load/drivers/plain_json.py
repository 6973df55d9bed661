"""Values of a scenario file that are sent as JSON."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator


def _plain(value: object) -> object:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot be sent as JSON: {error}") from None
    return value


PlainJson = Annotated[Any, AfterValidator(_plain)]
