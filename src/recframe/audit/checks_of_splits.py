"""Checks of splits: leaks from the future, cold rows, ends of windows."""

from __future__ import annotations

import operator
from dataclasses import replace

import polars as pl

from recframe.audit.data import Finding, Findings, check
from recframe.audit.split_rows import EVENT, FILTERED, KNOWN, PAIR, SplitRows, time
from recframe.frames.hints import Either, text

DROP_COLD = Either("cold='drop_users'", "--cold drop_users")
DROP_SEEN = Either("seen='drop'", "--seen drop")
LEAST_USERS = 30
"""Fewer users of a fold's truth make rough intervals."""
LEAST_MEDIAN = 2
"""Fewer rows in train tell little of a user."""
COVERED = 0.9
"""Least share of the last window that has rows."""
LEAST_RATE = 0.5
"""Least rows per time in the last window, over those of train."""
LEAST_EXPECTED = 20
"""Rows expected in a window from which half of them are no accident."""
MOST_AT_ONE_TIME = 0.5
CORE = 2
"""Least number of rows of each user or item that looks like a filter."""
LEAST_IDS = 10
"""Users or items from which it is no accident that all of them have several rows."""
LEAST_AT_CUT = 3
"""Users or items that have the least number of rows, if it comes from a filter."""
TOP = 100
LEAST_OF_TOP = 30
"""Rows of the last of the top items from which their order is more than noise."""
LEAST_OVERLAP = MOST_YOUNG = 0.5


@check(
    "error",
    "the model has seen rows that come after rows of truth, so metrics are higher than they will be in use",
    "split all users at one point of time, or drop the rows of train from the first truth row on",
    "time",
)
def future_in_train(data: SplitRows) -> Findings:
    """Rows of train at or after the first row of truth, and rows of truth with train at or after them."""
    late = data.compared("train", "truth_from", operator.ge)
    n_train = data.train.select(n_train=pl.len())
    share = (pl.len() / pl.col("n_train")).round(3)
    late = late.join(n_train, how="cross").with_columns(share=share)
    reached = data.compared("truth", "train_to", operator.le)
    reached = data.with_later(reached, late, or_same=True).join(n_train, how="cross")
    reached = reached.with_columns(
        share_of_train_after=(pl.col("later") / pl.col("n_train")).round(3)
    )
    reached = reached.sort("later", *PAIR, descending=[True, False, False])
    for one in (
        Finding("train", late, (*EVENT, "share")),
        Finding("truth", reached, (*EVENT, "share_of_train_after")),
    ):
        yield (
            one
            if data.order in {None, "line"}
            else replace(
                one,
                severity="info",
                remedy="nothing, if the split is meant so; to know how a model does tomorrow, split at one point of time",
            )
        )


@check(
    "warning",
    "items that did not exist yet at the time of the truth row count like any other",
    "split all users at one point of time, or recommend only items that are known at the time",
    "time",
)
def items_from_the_future(data: SplitRows) -> Findings:
    """Items of train, or of the lists, whose first row is later than the truth row."""
    items = data.items.filter("in_train").rename({"first_row": "time"})
    if data.lists is not None:
        last = data.truth.group_by("user").agg(truth_time=time.max())
        lists = data.lists.join(last, on="user").join(items, on="item")
        later = lists.filter(time > pl.col("truth_time")).rename({"time": "first_row"})
        yield Finding("recommendations", later, (*PAIR, "first_row", "truth_time"))
        return
    items = data.beside(items, "truth_from").filter(time > pl.col("truth_from"))
    truth = data.truth.join(items.select(latest=time.max()), how="cross")
    truth = truth.filter(time < pl.col("latest"))
    counted = data.with_later(truth, items, or_same=False).rename({"later": "later_items"})
    counted = counted.sort("later_items", *PAIR, descending=[True, False, False])
    yield Finding("truth", counted, (*EVENT, "later_items"))


@check(
    "error",
    "the model has seen the row that it is asked for",
    "split the log again: each row belongs to train or to truth",
    "time",
    "frames",
)
def same_rows(data: SplitRows) -> Findings:
    """Rows of truth that are also in train: the same user, item and time."""
    yield Finding("truth", data.truth.join(data.train, on=EVENT, how="semi"), EVENT)


def _of_pairs(data: SplitRows, concerned: pl.Expr) -> Finding:
    """Return the rows of truth of some pairs, with their share and the ceiling of recall that they leave."""
    pairs = data.pairs.filter(concerned).join(data.shares(concerned), how="cross")
    return Finding("truth", pairs.sort(PAIR), (*PAIR, "share", "ceiling"))


@check(
    "warning",
    "the pair counts like any other; a model that leaves out what the user had has at most this ceiling of recall",
    text("let models recommend what the user had, or drop these pairs from truth: ", DROP_SEEN),
)
def truth_in_train(data: SplitRows) -> Findings:
    """Pairs of truth that are also in train."""
    yield _of_pairs(data, pl.col("seen"))


@check(
    "warning",
    "the user counts; a model that learns from the user's rows has at most this ceiling of recall",
    text(
        "give new users a list of their own, such as what is popular, or drop them: ",
        Either("cold='drop_users'", "--cold drop_users"),
    ),
)
def truth_of_cold_users(data: SplitRows) -> Findings:
    """Rows of truth whose user is not in train."""
    yield _of_pairs(data, ~pl.col("of_user"))


@check(
    "warning",
    "the row counts; a model that learns from rows of the item has at most this ceiling of recall",
    text(
        "know the ceiling when you read recall, or drop these rows: ",
        Either("cold='drop_items'", "--cold drop_items"),
    ),
)
def truth_of_cold_items(data: SplitRows) -> Findings:
    """Rows of truth whose item is not in train."""
    yield _of_pairs(data, ~pl.col("of_item"))


@check(
    "warning",
    "the user counts, though no model knows anything of the user",
    text(
        "leave users with so few rows in train, or ask for rows there: ",
        Either("min_train=1", "--min-train 1"),
    ),
)
def users_wholly_in_truth(data: SplitRows) -> Findings:
    """Users with rows in truth and none in train."""
    users = data.pairs.filter(~pl.col("of_user")).group_by("user").agg(pl.col("rows").sum())
    yield Finding("truth", users.sort("user"), ("user", "rows"))


@check(
    "warning",
    "means are over few users, so their intervals are wide and rough",
    "take a longer window of truth, or fewer folds",
)
def few_truth_users(data: SplitRows) -> Findings:
    """Folds with fewer than 30 users in truth."""
    users = data.truth.select(n_users=pl.col("user").n_unique(), rows=pl.len())
    few = users.filter(pl.col("n_users") < LEAST_USERS)
    few = few.with_columns(concerned_users="n_users", needed=1)
    # a fold without any row of truth is found too
    yield Finding("truth", few, ("n_users",), always=True)


@check(
    "warning",
    "models have little to learn of these users",
    text("take a longer train, or ask for more rows: ", Either("min_train=2", "--min-train 2")),
)
def few_train_rows(data: SplitRows) -> Findings:
    """Folds in which half of the users of truth have fewer than 2 rows in train."""
    known = data.in_parts(*KNOWN).group_by("user").agg(in_train=pl.len())
    users = data.truth.group_by("user").agg(rows=pl.len()).join(known, on="user", how="left")
    n_known = pl.col("in_train")
    users = users.with_columns(n_known.fill_null(0)).with_columns(median_in_train=n_known.median())
    few = users.filter((pl.col("median_in_train") < LEAST_MEDIAN) & (n_known < LEAST_MEDIAN))
    yield Finding("truth", few.sort("user"), ("user", "in_train", "median_in_train"))


def _number(value: str) -> pl.Expr:
    """Return times as numbers whose differences divide."""
    return pl.col(value).to_physical().cast(pl.Float64)


def _last_window(data: SplitRows) -> pl.LazyFrame:
    """Return one row about the last window: its rows and ends, those of train, and how much of it has rows."""
    in_window = pl.any_horizontal([pl.col("part") == part for part in ("truth", *FILTERED)])
    in_train = pl.col("part") == "train"
    found = data.rows.select(
        rows=in_window.sum().cast(pl.Int64),
        n_train=in_train.sum(),
        n_later=(pl.col("part") == "later").sum(),
        first=time.filter(in_window).min(),
        last=time.filter(in_window).max(),
        first_train=time.filter(in_train).min(),
        last_train=time.filter(in_train).max(),
    )
    own = found.select(start="first", end="last")
    found = found.join(own if data.window is None else data.window, how="cross")
    length = _number("end") - _number("start")
    before = _number("last_train") - _number("first_train")
    expected = pl.col("n_train") / before * length
    return found.with_columns(
        covered=((_number("last") - _number("start")) / length).round(3),
        expected=expected,
        rate=(pl.col("rows") / expected).round(3),
    )


@check(
    "warning",
    "rows that are missing from the log count as if nobody wanted the items",
    text(
        "end the last window where the log is complete: ",
        Either("until=", "--until"),
    ),
    "line",
    "last",
)
def part_window(data: SplitRows) -> Findings:
    """A last window that the log does not fill: no rows near its end, or less than half as many per time as train has."""
    window = _last_window(data)
    ends_early = (pl.col("covered") < COVERED) & (pl.col("n_later") == 0)
    yield Finding("truth", window.filter(ends_early), ("covered",))
    is_after = pl.col("first") > pl.col("last_train")
    is_thin = (pl.col("rate") < LEAST_RATE) & (pl.col("expected") >= LEAST_EXPECTED) & is_after
    yield Finding("truth", window.filter(is_thin & ~ends_early), ("rate",))


@check(
    "error",
    "the row counts in each of these folds, so folds are no samples of their own",
    "take a step that is not shorter than the horizon",
)
def folds_overlap(data: SplitRows) -> Findings:
    """Rows that are truth in an earlier fold too."""
    if data.earlier_truth is not None:
        on = EVENT if "time" in data.traits else PAIR
        yield Finding("truth", data.truth.join(data.earlier_truth, on=on, how="semi"), on)


@check(
    "info",
    "rows of one time stay together in truth, so that its share may be larger than asked",
    "nothing, unless truth is much larger than meant",
    "time",
)
def ties_at_border(data: SplitRows) -> Findings:
    """Rows that share the time at which truth begins."""
    if "line" in data.traits:
        tied = data.compared("truth", "truth_from", operator.eq)
        tied = tied.with_columns(at_the_time=pl.len()).filter(pl.col("at_the_time") > 1)
        yield Finding("truth", tied, (*EVENT, "at_the_time"))
    elif data.order == "user":
        first = data.truth.group_by("user").agg(time.min())
        tied = data.train.join(first, on=["user", "time"], how="semi")
        said = "of a user's rows of one time, the item decides which are truth"
        yield Finding("train", tied, EVENT, treatment=said)


@check(
    "warning",
    "the order of rows of one time is arbitrary: which are a user's last rows is decided by the item",
    "give the time of each row in full, or split at the start of a day",
    "time",
    "last",
)
def one_time(data: SplitRows) -> Findings:
    """Logs in which more than half of the rows share one time, or all times are at midnight."""
    times = data.log.select("time").drop_nulls()
    # what more than half of all rows share is the middle one in order
    middle = time.sort().slice(pl.len() // 2, 1).first()
    counts = times.select("time", middle=middle).select(
        pl.col("middle").first().alias("time"),
        rows=(time == pl.col("middle")).sum(),
        share=(time == pl.col("middle")).mean(),
    )
    most = (pl.col("share") > MOST_AT_ONE_TIME) & (pl.col("rows") > 1)
    found = counts.filter(most).with_columns(pl.col("share").round(3))
    yield Finding("log", found, ("time", "share"))
    dtype = data.rows.collect_schema()["time"]
    if dtype == pl.Datetime or (dtype == pl.Date and data.order == "user"):
        whole = (time == time.dt.truncate("1d")).all() & (pl.len() > 1)
        yield Finding("log", times.filter(whole), ("time",))


@check(
    "warning",
    "who is in train was decided by rows that come later, so the log is easier than the one that a model will meet",
    "take the log as it was, and filter train alone after the split",
    "last",
)
def filtered_by_the_future(data: SplitRows) -> Findings:
    """Users or items of train with fewer rows there than each of them has in the whole log, as after a k-core."""
    for role in PAIR:
        counts = data.log.group_by(role).agg(pl.len().alias("n"))
        of_counts = counts.group_by("n").agg(pl.len().alias("ids"))
        n, ids = pl.col("n"), pl.col("ids")
        at_least = ids.filter(n == n.min()).first()
        least = of_counts.select(
            n.min().alias("least_in_log"), ids=ids.sum(), at=at_least, most=ids.max()
        )
        # what a filter leaves is cut off where it is thick, what has many rows by nature ends thin
        is_cut = (pl.col("at") >= LEAST_AT_CUT) & (pl.col("at") >= pl.col("most") / 2)
        least = least.filter(
            (pl.col("least_in_log") >= CORE) & (pl.col("ids") >= LEAST_IDS) & is_cut
        )
        least = least.select("least_in_log")
        train = data.train.group_by(role).agg(pl.len().alias("rows"))
        fewer = train.join(least, how="cross").filter(pl.col("rows") < pl.col("least_in_log"))
        yield Finding("train", fewer.sort(role), (role, "rows", "least_in_log"))


def _top(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the items with most rows: item, rows."""
    counts = rows.group_by("item").agg(pl.len().alias("rows"))
    return counts.sort("rows", "item", descending=[True, False]).head(TOP)


@check(
    "info",
    "popularity in train tells little of what is wanted in truth",
    "count popularity in a window before truth, or take a shorter train",
)
def unlike_parts(data: SplitRows) -> Findings:
    """Truth whose items are others than those of train: fewer than half of the 100 most popular, or most of them new."""
    before, after = _top(data.train), _top(data.truth)
    enough = before.select(n_before=pl.len(), least=pl.col("rows").min())
    found = after.select(n_after=pl.len(), rows=pl.col("rows").sum())
    common = after.join(before, on="item", how="semi").select(common=pl.len())
    found = found.join(enough, how="cross").join(common, how="cross")
    full = (pl.col("n_before") == TOP) & (pl.col("n_after") == TOP)
    full &= pl.col("least") >= LEAST_OF_TOP
    moved = found.with_columns(overlap_of_top_100=pl.col("common") / TOP)
    moved = moved.filter(full & (pl.col("overlap_of_top_100") < LEAST_OVERLAP))
    yield Finding("truth", moved, ("overlap_of_top_100",))
    if "line" in data.traits:
        yield _young(data)


def _young(data: SplitRows) -> Finding:
    """Return rows of truth on items whose first row is less than the length of the window before, where most are."""
    truth = data.truth.join(data.items.drop("in_train"), on="item").join(data.ends, how="cross")
    length = _number("truth_to") - _number("truth_from")
    # of a short log every item is young
    is_long = _number("train_to") - _number("train_from") >= length
    is_young = is_long & (_number("time") - _number("first_row") < length)
    truth = truth.with_columns(is_young=is_young, share=is_young.mean().round(3))
    young = truth.filter(pl.col("is_young") & (pl.col("share") > MOST_YOUNG))
    return Finding("truth", young, (*EVENT, "first_row", "share"))
