"""implicit, which RecTools installs as pm-implicit: arrays of places and of scores.

A list that would be shorter has an item that was to be left out, with the lowest score.
"""

import numpy as np
import scipy.sparse as sp
from implicit.als import AlternatingLeastSquares
from storing import ITEMS, PAIRS, USERS, store

train = sp.csr_matrix(
    (
        np.ones(len(PAIRS)),
        ([USERS.index(user) for user, _ in PAIRS], [ITEMS.index(item) for _, item in PAIRS]),
    )
)
model = AlternatingLeastSquares(factors=2, iterations=5, random_state=1, num_threads=1)
model.fit(train, show_progress=False)
places, scores = model.recommend(np.arange(3), train, N=2)
store("implicit", ["pm-implicit", "numpy"], places=places, scores=scores)
