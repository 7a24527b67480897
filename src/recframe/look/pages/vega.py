"""The scripts that draw charts in a page, Vega and Vega-Lite, as one text: made once, then kept in a folder of the user's."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from recframe.errors import RecframeError
from recframe.frames import atomic_write

SNIPPET = "window.vegaEmbed = vegaEmbed;"


@lru_cache(maxsize=1)
def script() -> str:
    """Return the script, which gives a page the function `vegaEmbed`.

    NOTE: to put it together takes vl-convert some seconds, so that it is kept, under the versions that it is made of. Where
    the folder cannot be written to, it is made once in each process.
    """
    import altair as alt  # noqa: PLC0415  an extra
    import vl_convert  # noqa: PLC0415

    grammar = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    version = vl_convert.__version__  # type: ignore[attr-defined]  # which its stubs leave out
    kept = _folder() / f"vega-{version}-{grammar}.js"
    with suppress(OSError, UnicodeError):
        return kept.read_text(encoding="utf-8")
    made = vl_convert.javascript_bundle(SNIPPET, vl_version=grammar)
    # what would end the element that the script stands in
    made = made.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError, RecframeError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        atomic_write.write_text(kept, made)
    return made


def _folder() -> Path:
    """Return the folder for what can be made again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(home) if home else Path.home() / ".cache") / "recframe"
