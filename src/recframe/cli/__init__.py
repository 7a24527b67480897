"""The command line: files in, tables out."""

try:
    from recframe.cli.commands import main
except ModuleNotFoundError as missing:
    message = f"error: the command line needs {missing.name}: pip install 'recframe[cli]'"
    raise SystemExit(message) from None

__all__ = ["main"]
