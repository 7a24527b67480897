"""Makes the page of the command line from the commands' own help."""

from __future__ import annotations

import click
from metric_text import code, table

import public_api
from recframe.cli.commands import OF_RECS

ABOUT = """\
# The command line

`pip install 'recframe[cli]'` gives the command `recframe`. `recframe COMMAND --help` says what stands here.
[From a shell](../shell.md) has examples. The options of files and policies, which many commands share, stand in full at
[`recframe evaluate`](#recframe-evaluate)."""
WIDTH = 88
FULL = "recframe evaluate"


def pages() -> dict[str, str]:
    """Return the page."""
    commands = public_api.commands()
    rows = [
        (f"[{code(f'recframe {name}')}](#{_anchor(name)})", one.get_short_help_str(200))
        for name, one in commands.items()
    ]
    helped = [_command(f"recframe {name}", one) for name, one in commands.items()]
    parts = [ABOUT, table(["command", "what it does"], rows), *helped]
    return {"reference/command_line.md": "\n\n".join(parts) + "\n"}


def _anchor(name: str) -> str:
    """Return the anchor of a command's heading."""
    return f"recframe-{name}".replace(" ", "-")


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, terminal_width=WIDTH)
    for one in OF_RECS:
        one.hidden = name != FULL
    return f"## {code(name)}\n\n```text\n{command.get_help(context)}\n```"
