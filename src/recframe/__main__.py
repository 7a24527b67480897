"""Entry point of `python -m recframe`: the command line."""

from __future__ import annotations

from recframe.cli import main

if __name__ == "__main__":
    main()
