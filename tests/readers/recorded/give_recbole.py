"""RecBole: tensors of scores and of places, of which the place 0 is padding."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas  # noqa: F401, ICN001  before NumPy is what RecBole takes it for
import scipy.sparse  # noqa: F401
import torch  # noqa: F401

OLD = {
    "float": float,
    "bool8": np.bool_,
    "float_": np.float64,
    "complex_": np.complex128,
    "object_": np.object_,
}
OLD |= {"str_": np.str_, "long": np.int_, "unicode_": np.str_}
for name, value in OLD.items():  # NOTE: recbole 1.2.1 writes what NumPy no longer has
    if name not in vars(np):
        setattr(np, name, value)

from recbole.config import Config  # noqa: E402
from recbole.data import create_dataset, data_preparation  # noqa: E402
from recbole.utils import get_model, init_seed  # noqa: E402
from recbole.utils.case_study import full_sort_scores, full_sort_topk  # noqa: E402
from storing import PAIRS, USERS, store  # noqa: E402

# RecBole tests on the last row of each user
HELD_OUT = [("ann", "ulysses"), ("bob", "dune"), ("cid", "emma")]
OTHERS = [("dan", "walden"), ("dan", "dune")]  # and wants an item for each user that is not theirs
folder = Path(tempfile.mkdtemp())
os.chdir(folder)  # it writes logs
(folder / "tiny").mkdir()
lines = [
    f"{user}\t{item}\t{time}" for time, (user, item) in enumerate([*PAIRS, *HELD_OUT, *OTHERS])
]
(folder / "tiny" / "tiny.inter").write_text(
    "\n".join(["user_id:token\titem_id:token\ttimestamp:float", *lines])
)
settings = {
    "data_path": str(folder),
    "embedding_size": 4,
    "epochs": 1,
    "use_gpu": False,
    "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
    "eval_args": {"split": {"LS": "test_only"}, "order": "TO", "mode": "full", "group_by": "user"},
    "metrics": ["Recall"],
    "valid_metric": "Recall@1",
    "topk": [1],
    "state": "ERROR",
}
config = Config(model="BPR", dataset="tiny", config_dict=settings)
init_seed(1, True)  # noqa: FBT003  RecBole's own signature
dataset = create_dataset(config)
train, _, test = data_preparation(config, dataset)
model = get_model("BPR")(config, train._dataset)
places = dataset.token2id("user_id", USERS)
scores, items = full_sort_topk(places, model, test, k=2, device="cpu")
store(
    "recbole",
    ["recbole", "torch"],
    users=places,
    items=dataset.field2id_token["item_id"],
    topk_scores=scores,
    topk_places=items,
    full_sort_scores=full_sort_scores(places, model, test, device="cpu"),
)
