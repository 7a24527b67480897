"""The command line: files in, tables out."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that this process was given."""
    try:
        from recframe.cli.commands import main as command  # noqa: PLC0415  which imports much
    except ModuleNotFoundError as missing:
        name = str(missing.name).partition(".")[0]
        message = f"error: the command line needs {name}: pip install 'recframe[cli]'"
        raise SystemExit(message) from None
    command(prog_name="recframe")
