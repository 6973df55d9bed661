"""What all tables of the configuration have in common."""

from pydantic import BaseModel, ConfigDict, ValidationInfo


class Table(BaseModel):
    """What all tables share: nothing unknown, nothing converted silently, nothing changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def shell_of(info: ValidationInfo) -> bool:
    """Whether the table being read asks for a shell; its `shell` stands before its commands."""
    return info.data.get("shell") is True
