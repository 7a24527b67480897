"""Makes the page of the command line from the commands themselves."""

from __future__ import annotations

import inspect
import re

import click
import reference

import public_api


def pages() -> dict[str, str]:
    """Return the page."""
    commands = public_api.commands()
    rows = [
        f"| [`recframe {name}`](#recframe-{name}) | {_plain(one.get_short_help_str(200))} |"
        for name, one in commands.items()
    ]
    parts = [
        "# The command line",
        "`pip install 'recframe[cli]'` gives the command `recframe`. `recframe COMMAND --help` says what stands here.",
        "\n".join(["| command | what it does |", "|---|---|", *rows]),
        *(_command(name, one) for name, one in commands.items()),
    ]
    return {"reference/command_line.md": "\n\n".join(parts) + "\n"}


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"recframe {name}")
    usage = " ".join(["recframe", name, *command.collect_usage_pieces(context)])
    rows = [
        f"| {_option(record[0])} | {_plain(record[1])} |"
        for one in command.params
        if isinstance(one, click.Option) and (record := one.get_help_record(context))
    ]
    table = "\n".join(["| option | what it does |", "|---|---|", *rows]) if rows else ""
    head = f"## `recframe {name}` {{#{reference.anchor(f'recframe {name}')}}}"
    help_text = _help(command.help or "")
    return "\n\n".join(filter(None, [head, f"```text\n{usage}\n```", help_text, table]))


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
