"""LensKit: a collection of item lists, whose frame is long."""

import pandas as pd
from lenskit.basic import PopScorer
from lenskit.batch import recommend
from lenskit.data import from_interactions_df
from lenskit.pipeline import topn_pipeline
from storing import PAIRS, USERS, store

pipeline = topn_pipeline(PopScorer(), n=2)
pipeline.train(from_interactions_df(pd.DataFrame(PAIRS, columns=["user_id", "item_id"])))
lists = recommend(pipeline, USERS, n=2, n_jobs=1)
store("lenskit", ["lenskit", "pandas"], to_df=lists.to_df())
