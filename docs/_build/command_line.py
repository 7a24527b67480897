"""Makes the page of the command line from the commands themselves."""

from __future__ import annotations

import inspect
import re

import click
import reference

import public_api
from recframe.cli.options import FILES, POLICIES, QUESTION, Option

ABOUT = """\
`pip install 'recframe[cli]'` gives the command `recframe`. `recframe COMMAND --help` says what stands here.
[From a shell](../shell.md) has examples."""


def pages() -> dict[str, str]:
    """Return the page."""
    commands = public_api.commands()
    rows = [
        f"| [`recframe {name}`](#recframe-{name}) | {_plain(one.get_short_help_str(200))} |"
        for name, one in commands.items()
    ]
    parts = [
        "# The command line",
        ABOUT,
        "\n".join(["| command | what it does |", "|---|---|", *rows]),
        *(_command(name, one) for name, one in commands.items()),
        *(_shared(commands["evaluate"], group) for group in (FILES, POLICIES)),
    ]
    return {"reference/command_line.md": "\n\n".join(parts) + "\n"}


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"recframe {name}")
    usage = " ".join(["recframe", name, *command.collect_usage_pieces(context)])
    table = _table(command, context, QUESTION)
    others = [group for group in (FILES, POLICIES) if _table(command, context, group)]
    links = " and ".join(f"[{group.lower()}](#{group.lower()})" for group in others)
    head = f"## `recframe {name}` {{#{reference.anchor(f'recframe {name}')}}}"
    help_text = _help(command.help or "")
    more = links and f"It takes the options of {links} too."
    return "\n\n".join(filter(None, [head, f"```text\n{usage}\n```", help_text, table, more]))


def _shared(command: click.Command, group: str) -> str:
    """Return the options of a group, which many commands have."""
    context = click.Context(command, info_name="recframe")
    return f"## {group} {{#{group.lower()}}}\n\n{_table(command, context, group)}"


def _table(command: click.Command, context: click.Context, group: str) -> str:
    """Return the options of a group as a table, nothing where there are none."""
    rows = [
        f"| {_option(record[0])} | {_plain(record[1])} |"
        for one in command.params
        if isinstance(one, Option)
        and one.group == group
        and (record := one.get_help_record(context))
    ]
    return "\n".join(["| option | what it does |", "|---|---|", *rows]) if rows else ""


def _help(text: str) -> str:
    """Return a command's help; what stands behind a backspace keeps its lines."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(
        f"```sh\n{part.partition(chr(10))[2]}\n```"
        if part.startswith("\b")
        else _plain(" ".join(part.split()))
        for part in parts
    )


def _option(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _plain(text: str) -> str:
    return re.sub(r"([*|_])", r"\\\1", " ".join(text.split())).replace("<", "&lt;")
