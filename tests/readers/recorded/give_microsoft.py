"""Microsoft recommenders: a long frame of pandas, without ranks; and Surprise's predictions, made lists as its FAQ has it."""

import numpy as np

np.NaN = np.nan  # noqa: NPY201  NOTE: recommenders 1.2.1 writes what NumPy no longer has

from collections import defaultdict  # noqa: E402

import pandas as pd  # noqa: E402
from recommenders.models.sar import SAR  # noqa: E402
from storing import PAIRS, store  # noqa: E402
from surprise import SVD, Dataset, Reader  # noqa: E402

frame = pd.DataFrame(PAIRS, columns=["userID", "itemID"]).assign(rating=[5.0, 4, 3, 4, 5, 2, 4])
model = SAR(col_user="userID", col_item="itemID", similarity_type="jaccard", threshold=1)
model.fit(frame)
recs = model.recommend_k_items(
    frame[["userID"]].drop_duplicates(), top_k=2, remove_seen=True, sort_top_k=True
)
store("microsoft", ["recommenders", "pandas"], recommend_k_items=recs)

train = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
svd = SVD(n_factors=2, random_state=0)
svd.fit(train)
top_n = defaultdict(list)
for user, item, _, estimate, _ in svd.test(train.build_anti_testset()):
    top_n[user].append((item, estimate))
for estimates in top_n.values():
    estimates.sort(key=lambda pair: pair[1], reverse=True)
store("surprise", ["scikit-surprise", "numpy"], top_n=top_n)
