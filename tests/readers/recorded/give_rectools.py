"""RecTools: a long frame of pandas."""

import pandas as pd
from rectools.dataset import Dataset
from rectools.models import PopularModel
from storing import PAIRS, USERS, store

frame = pd.DataFrame(PAIRS, columns=["user_id", "item_id"]).assign(
    weight=1, datetime=pd.Timestamp("2026-01-01")
)
dataset = Dataset.construct(frame)
recs = PopularModel().fit(dataset).recommend(users=USERS, dataset=dataset, k=2, filter_viewed=True)
store("rectools", ["rectools", "pandas"], recommend=recs)
