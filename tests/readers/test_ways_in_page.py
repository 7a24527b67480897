"""The page of recipes: each runs, on what the library that it is for gave when it was asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import page_blocks
import recframe as rf
from tensors import Tensor

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ways_in.md"
TEXT = PAGE.read_text(encoding="utf-8")
OUTPUTS = json.loads(
    (Path(__file__).parent / "recorded" / "outputs.json").read_text(encoding="utf-8")
)
USERS, ITEMS = ["ann", "bob", "cid"], ["dune", "emma", "ilium", "ulysses"]


class Vectors:
    """Vectors whose product is a tensor."""

    @property
    def T(self):  # noqa: N802  as torch has it
        return self

    def __matmul__(self, _others):
        rows = [[0.9, 0.8, 0.1, 0.4], [0.3, 0.9, 0.9, 0.2], [0.2, 0.6, 0.5, 0.5]]
        return Tensor(np.array(rows, dtype=np.float32))


def array(told):
    return np.array(told["array"], dtype=told["dtype"].removeprefix("torch."))


def frame(told):
    dtypes = {name: dtype for name, dtype in told["dtypes"].items() if dtype != "object"}
    return pd.DataFrame(told["frame"]).astype(dtypes)


def gives(call, value):
    return SimpleNamespace(**{call: lambda *_args, **_options: value})


recbole = OUTPUTS["recbole"]
STAND_INS = {
    "torch": {"user_vectors": Vectors(), "item_vectors": Vectors()},
    "implicit": {
        "model": gives("recommend", tuple(array(OUTPUTS["implicit"][name]) for name in ("places", "scores"))),
        "user_items": None,
    },
    "RecBole": {
        "model": None,
        "test_data": None,
        "full_sort_topk": lambda *_args, **_options: (
            Tensor(array(recbole["topk_scores"])),
            Tensor(array(recbole["topk_places"])),
        ),
        "full_sort_scores": lambda *_args, **_options: Tensor(array(recbole["full_sort_scores"])),
        "dataset": SimpleNamespace(
            token2id=lambda _field, _tokens: array(recbole["users"]),
            id2token=lambda _field, places: np.array(["[PAD]", *USERS])[places],
            field2id_token={"item_id": array(recbole["items"])},
        ),
    },
    "LensKit": {"lists": gives("to_df", frame(OUTPUTS["lenskit"]["to_df"]))},
    "RecTools": {"model": gives("recommend", frame(OUTPUTS["rectools"]["recommend"])), "dataset": None},
    "Microsoft recommenders": {
        "model": gives("recommend_k_items", frame(OUTPUTS["microsoft"]["recommend_k_items"])),
        "test": None,
    },
    "Surprise": {"top_n": {user: [*map(tuple, pairs)] for user, pairs in OUTPUTS["surprise"]["top_n"].items()}},
}  # fmt: skip


def test_every_block_gives_what_it_shows(tmp_path):
    pytest.importorskip("sklearn")
    outcomes = page_blocks.run(TEXT, tmp_path, at_headings=STAND_INS)

    assert not (failed := [str(one) for one in outcomes if not one.good]), "\n".join(failed)
    assert {block.heading for block in page_blocks.blocks(TEXT)} == {
        one.block.heading for one in outcomes
    }


def test_the_page_names_the_versions_that_were_recorded():
    versions = {
        name: version for told in OUTPUTS.values() for name, version in told["versions"].items()
    }
    libraries = {
        name: version for name, version in versions.items() if name not in {"numpy", "pandas"}
    }

    said = "; ".join(f"{name} {version}" for name, version in sorted(libraries.items()))
    assert f"<!-- versions -->{said}." in TEXT


def test_every_way_in_is_on_the_page_and_what_it_names_is_public():
    ways = {name for name, module in rf._LATER.items() if module.startswith("recframe.readers")}
    named = set(re.findall(r"\brf\.(\w+)", TEXT))

    assert ways <= named <= set(rf.__all__)
