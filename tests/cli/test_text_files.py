"""Files of every form give the numbers of the same rows, and those that cannot be read say what to write."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shop_files import failure, run

# User 1 likes the item of rank 2, user 2 the one of rank 1: mrr is (1/2 + 1) / 2.
MRR = 0.75
R = "user,item,rank\n1,10,1\n1,11,2\n2,12,1\n"
T = "user,item\n1,11\n2,12\n"
BARE = R.partition("\n")[2]
NESTED = pl.DataFrame({"user": [1, 2], "items": [[10, 11], [12]]})
LIKED = pl.DataFrame({"user": [1, 2], "items": [[11], [12]]})
LONG = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12], "rank": [1, 2, 1]})
BIG = "user,item,rank\n4873214862074861312,5,1\n4873214862074861345,6,1\n"

Content = str | bytes | pl.DataFrame


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files: dict[str, Content]) -> None:
    """Write files of a content in bytes, in text, or as a table in the format of their ending."""
    writers: dict[str, Callable[[pl.DataFrame, str], object]] = {
        ".parquet": pl.DataFrame.write_parquet,
        ".arrow": pl.DataFrame.write_ipc,
        ".ndjson": pl.DataFrame.write_ndjson,
        ".json": pl.DataFrame.write_json,
    }
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pl.DataFrame):
            writers[Path(name).suffix](content, name)
        else:
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def words(options: str, files: dict[str, Content]) -> list[str]:
    """Write files, and return them and options as the words of a command."""
    write(files)
    is_whole = options[:1] not in {"", "-"}
    return [*([] if is_whole else files), *filter(None, options.split("|"))]


def of(
    recs: Content = R, truth: Content = T, a: str = "r.csv", b: str = "t.csv"
) -> dict[str, Content]:
    return {a: recs, b: truth}


def tabs(text: str) -> str:
    return text.replace(",", "\t")


NUMBERS = {
    "lines end as Windows has it": ("", of(R.replace("\n", "\r\n"))),
    "lines end as an old Mac has it": ("", of(R.replace("\n", "\r"))),
    "a byte order mark": ("", of(b"\xef\xbb\xbf" + R.encode())),
    "UTF-16": ("", of(R.encode("utf-16"))),
    "UTF-16 without a mark": ("--encoding|recs=utf-16-be", of(R.encode("utf-16-be"))),
    "UTF-16 packed": ("", of(gzip.compress(R.encode("utf-16")), a="r.csv.gz")),
    "Latin-1": ("--encoding|latin-1",
        of(R.replace("11", "é").encode("latin-1"), T.replace("11", "é").encode("latin-1"))),
    "Latin-1 in one file": ("--encoding|recs=latin-1",
        of(R.replace("11", "é").encode("latin-1"), T.replace("11", "é"))),
    "quotes are no quotes between tabs": ("",
        of(tabs(R).replace("10", '"a').replace("12", 'b"'), T.replace("12", '"b"""'), a="r.tsv")),
    "but where the first line has them": ("",
        of(tabs(R.replace("11", '"1\t1"').replace("user", '"user"')), T.replace("11", '"1\t1"'), a="r.tsv")),
    "or the command says so": ("--quotes|recs=yes",
        of(tabs(R.replace("11", '"1\t1"')), T.replace("11", '"1\t1"'), a="r.tsv")),
    "no quotes between commas": ("--quotes|no",
        of(R.replace("10", '"a').replace("12", 'b"'), T.replace("12", 'b"'))),
    "a comma in quotes": ("", of(R.replace("11", '"1,1"'), T.replace("11", '"1,1"'))),
    "spaces at numbers": ("", of(R.replace(",rank", ", rank").replace(",1\n", ", 1 \n"))),
    "MovieLens": ("--separator|truth=::|--header|truth=user,item,,",
        of(truth="1::11::5::978300760\n2::12::4::978301968\n", b="t.dat")),
    "two signs": ("--separator|recs=<>", of(R.replace(",", "<>"), a="r.dat")),
    "MS MARCO beside qrels": ("--separator|recs=tab|--header|recs=user,item,rank",
        {"a.run": tabs(BARE), "t.qrels": "1 0 11 1\n2 0 12 1\n"}),
    "names for one file": ("--header|recs=user,item,rank", of(BARE)),
    "a column of one file": ("--columns|user=who,truth=item=liked",
        of(R.replace("user", "who"), "who,item,liked\n1,10,11\n2,10,12\n")),
    "columns without names": ("", of("user,item,rank,,\n1,10,1,x,\n1,11,2,y,\n2,12,1,z,\n")),
    "lines without values": ("", of(f"\n{R}\n1,13,3\n")),
    "numbers between tabs beside qrels": ("",
        of(tabs(R), "1 0 11 1\n2 0 12 1\n", a="r.tsv", b="t.qrels")),
    "numbers beside Parquet": ("", of(truth=LONG[1:, :2], b="t.parquet")),
    "text in Parquet": ("", of(truth=LONG[1:, :2].cast(pl.String), b="t.parquet")),
    "numbers in JSON beside others in text": ("",
        of("user,item,rank\na,10,1\na,11,2\nb,12,1\n", LONG[1:, :2].with_columns(user=pl.Series(["a", "b"])),
            b="t.ndjson")),
    "leading zeros": ("", of("user,item,rank\n007,a,1\n7,b,1\n", "user,item\n007,b\n7,b\n"), 0.5),
    "large ids": ("", of(BIG, "user,item\n4873214862074861312,6\n4873214862074861345,5\n"), 0.0),
    "ids below 1": ("", of("user,item,rank\n-1,0,1\n0,-5,2\n", "user,item\n-1,0\n0,-5\n")),
    "text after 11,000 whole numbers": ("",
        of("".join(["user,item,rank\n", *(f"{one},1,1\n" for one in range(1, 11001)), "x,1,2\n"]),
            "user,item\nx,1\n11000,1\n")),
    "a user by the name of NA": ("",
        of("user,item,rank\nNA,a,1\nnull,b,2\n", "user,item\nNA,a\nnull,b\n")),
    "1.5 after whole ones": ("",
        of("".join(["user,item,score\n", *(f"{one},1,1\n" for one in range(1, 12001)), "5,7,1.5\n5,8,nan\n"]),
            "user,item\n5,7\n5,1\n"),
        1.0),
    "true and false": ("--columns|relevance=clicked",
        of(truth="user,item,clicked\n1,10,False\n1,11,true\n2,12,TRUE\n")),
    "true and 1": ("--columns|relevance=clicked",
        of(truth="user,item,clicked\n1,10,0\n1,11,true\n2,12,1\n")),
    "decimal commas": ("--separator|recs=;|--decimal|recs=comma",
        of("user;item;score\n1;10;0,91\n1;11;0,9\n2;12;NA\n")),
    "lists of one file": ("--columns|recs=item=items", of(NESTED, a="r.parquet")),
    "lists as Python prints them": ("--lists-separator|,|--columns|recs=item=items",
        of("user,items\n1,\"['10', '11']\"\n2,['12']\n")),
    "files of several kinds": ("p/*|t.csv", {"p/a.csv": R[:-7], "p/b.parquet": LONG[2:], "t.csv": T}),
    "Kaggle": ("--lists-separator|recs= |--columns|user=c,recs=item=prediction,truth=item=article",
        of("c,prediction\n1,10 11\n2,12\n", "c,article\n1,11\n2,12\n")),
    "dictionaries of scores and grades": ("",
        of('{"1":{"a":0.9,"b":0.5},"2":{"b":1}}', '{"1":{"b":1},"2":{"b":2}}', a="r.json", b="t.json")),
    "dictionaries of lists": ("", of('{"1":["10","11"],"2":["12"]}', a="r.json")),
    "lists as text": ("--lists-separator|space",
        of("user,model,items\n1,m,10 11\n2,m,12\n", "user,items\n1,11\n2,12\n")),
    "a truth of lists as text": ("--lists-separator|truth= ",
        of(LONG, "user,items\n1,11\n2,12\n", a="r.parquet")),
    "scores without ranks": ("", of("user,item,score\n1,10,.9\n1,11,8e-1\n2,12,+5\n")),
    "columns of all files": ('--columns|user=u,"item=movie, id"',
        of(R.replace("user,item", 'u,"movie, id"'), T.replace("user,item", 'u,"movie, id"'))),
    "JSON packed": ("",
        {"r.JSON.gz": gzip.compress(json.dumps(LONG.to_dicts(), indent=1).encode()),
            "t.ndjson.gz": gzip.compress(LONG[1:, :2].write_ndjson().encode())}),
    "TREC files": ("",
        of(gzip.compress(b"1 Q0 10 1 .9 a\n1 Q0 11 2 .8 a\n2 Q0 12 1 .7 a\n"), "1 0 11 1\n2 0 12 1\n",
            a="r.RUN.gz", b="t.qrel")),
    "parts by the names of their columns": ("p/*.csv|t.csv",
        {"p/a.csv": R[:-7], "p/b.csv": "rank,item,user\n1,12,2\n", "t.csv": T}),
    "empty parts": ("p/*.csv|t.csv",
        {"p/a.csv": R, "p/b.csv": "", "p/c.csv": "user,item,rank\n", "t.csv": T}),
    "integers of two widths, and a hidden folder": ("p|t.csv",
        {"p/a.parquet": LONG[:2], "p/b.parquet": LONG[2:].cast({"user": pl.Int32}), "p/_old/c.parquet": LONG,
            "t.csv": T}),
    "a part with another column": ("p|t.csv",
        {"p/a.parquet": LONG[:2], "p/b.parquet": LONG[2:].with_columns(x=1), "t.csv": T}),
    "folders as columns keep their zeros": ("p|t.csv|--columns|user=shop",
        {"p/shop=01/a.parquet": LONG[:2, 1:], "p/shop=1/b.parquet": LONG[2:, 1:],
            "t.csv": "shop,item\n01,11\n1,12\n"}),
    "folders of numbers are numbers": ("p|t.csv|--columns|user=shop",
        {"p/shop=1/a.parquet": LONG[:2, 1:], "p/shop=2/b.parquet": LONG[2:, 1:], "t.csv": T.replace("user", "shop")}),
    **{f"{word} is no rank": ("", of(R + f"2,11,{word}\n"))
       for word in ("", "NA", "N/A", "nan", "null", "None", "\\N", "#N/A", "NaN", '""')},
    **{f"lists in {form}": ("", {f"r.{form}": NESTED, f"t.{form}": LIKED})
       for form in ("parquet", "arrow", "ndjson", "json")},
}  # fmt: skip
"""By case: options, behind paths that are no names of files; the files; the number where it is not 0.75."""


@pytest.mark.parametrize("case", NUMBERS)
def test_files_give_the_number_of_their_rows(case):
    options, files, *number = NUMBERS[case]

    result = run("evaluate", *words(options, files), "-m", "mrr", "--format", "csv")

    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert [float(result.stdout.split()[-1].split(",")[-1])] == (number or [MRR])


ERRORS = {
    "a long line": ("", of(R + "3,13,1,9\n"),
        "line 5 of 'r.csv' has 4 fields, and its first line has 3: '3,13,1,9'; mend that line"),
    "a short line": ("", of(R + "3,13\n"),
        "line 5 of 'r.csv' has 2 fields, and its first line has 3: '3,13'; mend that line"),
    "a long line where a column is left out": ("", of("user,item,rank,\n1,10,1,x\n1,11,2,y,z\n"),
        "line 3 of 'r.csv' has 5 fields, and its first line has 4: '1,11,2,y,z'; mend that line"),
    "a long line of two signs": ("--separator|truth=::",
        of(truth="user::item\n1::11::5\n", b="t.dat"),
        ("line 2 of 't.dat' has 3 fields, and its first line has 2: '1::11::5'; mend that line, "
        "or say how values are quoted: --quotes yes|no")),
    "fewer names than columns": ("--header|truth=user,item", of(truth="1,11,5\n2,12,4\n"),
        ("the first line of 't.csv' is '1,11,5', and --header has 'user,item': write a name for "
        "each of its 3 fields, an empty one to leave it out, for files without a header line")),
    "a word among numbers": ("",
        of("".join(["user,item,rank\n", *("1,10,1\n" for _ in range(2000)), "1,11,many\n"])),
        ("column 'rank' is of numbers, and row 2001 of 'r.csv' has 'many'; write a finite "
        "number, or leave it empty")),
    **{f"{word} in {column}": ("", of(R.replace("rank", column) + f"2,11,{word}\n"),
        f"column '{column}' is of numbers, and row 4 of 'r.csv' has '{word}'; write a finite number")
        for word in ("inf", "-inf", "Infinity", "1e999") for column in ("rank", "score")},
    "inf among relevances": ("", of(truth="user,item,relevance\n1,11,1.5\n2,12,inf\n"),
        "column 'relevance' is of numbers, and row 2 of 't.csv' has 'inf'; write a finite number"),
    "inf after many numbers": ("",
        of("".join(["user,item,score\n", *("1,10,.5\n" for _ in range(2000)), "1,11,inf\n"])),
        "column 'score' is of numbers, and row 2001 of 'r.csv' has 'inf'; write a finite number"),
    "a word in a part": ("p/*.csv|t.csv",
        {"p/a.csv": R, "p/b.csv": R.replace("2,12,1", "2,12,x"), "t.csv": T},
        "column 'rank' is of numbers, and row 3 of 'p/b.csv' has 'x'"),
    "decimal commas": ("--separator|recs=;", of("user;item;score\n1;10;0,9\n"),
        ("column 'score' is of numbers, and row 1 of 'r.csv' has '0,9'; write a finite number, or "
        "leave it empty; for 0,9 write --decimal comma")),
    "text beside numbers in Parquet": ("", of(R + "x,13,1\n", LONG[1:, :2], b="t.parquet"),
        ("column 'user' is of whole numbers in another file, and row 4 of 'r.csv' has 'x'; make "
        "both text or both whole numbers")),
    "Latin-1": ("", of(R.replace("11", "é").encode("latin-1")),
        ("cannot read 'r.csv': it is no UTF-8; write its encoding, such as --encoding latin-1, "
        "or convert it")),
    "another encoding": ("--encoding|recs=ascii", of(R.replace("11", "é")),
        "cannot read 'r.csv' as ascii: "),
    "empty": ("", of(""),
        "cannot read 'r.csv': it is empty; a table without rows has a header line"),
    "a part without ranks": ("p/*.csv|t.csv",
        {"p/a.csv": R, "p/b.csv": "user,item\n1,9\n", "t.csv": T},
        ("'p/b.csv' has no column 'rank', which other files of 'p/*.csv' have; give files of "
        "the same columns")),
    "a Delta table": ("d|t.csv", {"d/_delta_log/0.json": "{}", "d/a.parquet": LONG, "t.csv": T},
        ("'d' is a table of Delta or Iceberg, some of whose files count no longer; write those that do "
        "into one file first: pl.scan_delta('d'), or pl.scan_iceberg, and .sink_parquet('table.parquet')")),
    "a zip archive": ("", of(b"PK\x03\x04", a="r.zip"),
        "cannot read 'r.zip': it is an archive; unpack it first: unzip r.zip"),
    "a column that is not there": ("--columns|item=article", of(),
        ("'r.csv' has no column 'article'. It has 'user', 'item', 'rank'. Name the column of "
        "the item: --columns item=NAME, or in this file alone --columns recs=item=NAME")),
    "a column of one file that is not there": ("--columns|truth=item=artcle", of(),
        "'t.csv' has no column 'artcle'. It has 'user', 'item'."),
    "a file that is not given": ("--separator|items=;", of(),
        "--separator is for the file 'items', which is not given; this command reads recs, truth"),
    "no header": ("", of(BARE),
        ("'r.csv' has two columns named '1'; drop or rename one of them, or name all: --header "
        "user,item,rank")),
    "no header and no number twice": ("", of("1,10,2\n"),
        ("'r.csv' has no column 'user'. It has '1', '10', '2'. Name the column of the user: "
        "--columns user=NAME, or in this file alone --columns recs=user=NAME; text without a "
        "header line takes --header user,item,rank")),
    "more names": ("--header|user,item,rank,score", of(BARE),
        "the first line of 'r.csv' is '1,10,1', and --header has 'user,item,rank,score': write"),
    "names beside a header": ("--header|user,item,rank", of(BARE, R),
        ("the first line of 't.csv' is 'user,item,rank', and --header has 'user,item,rank': "
        "write a name for each of its 3 fields, an empty one to leave it out, for files without "
        "a header line: --header recs=user,item")),
    "semicolons": ("", of("user;item;rank\n1;2;3\n"),
        ("'r.csv' has no column 'user'. It has 'user;item;rank'. Name the column of the user: "
        "--columns user=NAME, or in this file alone --columns recs=user=NAME; text without a "
        "header line takes --header user,item,rank, columns between other marks --separator ';'")),
    "two columns of one name": ("",
        of(gzip.compress(b'\xef\xbb\xbf\n\n"user","item",rank,"item"\n1,5,1,6'), a="r.csv.gz"),
        "'r.csv.gz' has two columns named 'item'; drop or rename one of them"),
    "lists as text": ("", of("user,items\n1,10 11\n"),
        ("'r.csv' has no column 'item'. It has 'user', 'items'. Name the column of the item: "
        "--columns item=NAME, or in this file alone --columns recs=item=NAME; text without a "
        "header line takes --header user,item,rank, columns between other marks --separator ';', "
        "and lists such as 'a b c' --lists-separator ' '")),
    "a directory of no Parquet files": ("p|t.csv", {"p/a.csv": R, "t.csv": T},
        "the directory 'p' has no .parquet files; name another kind by a pattern: 'p/*.csv'"),
    "a run of other fields": ("", of("1 0 10 3\n", a="r.run"),
        "line 1 of 'r.run' is '1 0 10 3', and a line has 6 fields"),
    **{name: ("", of(content, a=name), f"cannot read '{name}': {said}") for name, content, said in [
        ("r.parquet", b"PAR1 but nothing else", "parquet:"),
        ("r.arrow", b"ARROW1 but nothing else", ""),
        ("r.ndjson", b"{user\n", ""),
        ("r.xlsx", b"PK", "its ending is '.xlsx'; known are"),
        ("r.txt", R, "its ending is '.txt'; known are .parquet, .pq, .csv, .tsv, .json,"),
        ("r.csv", b"PAR1 as Parquet files begin", "parquet:"),
    ]},
}  # fmt: skip
"""By case: options, behind paths that are no names of files; the files; the beginning of the error."""


@pytest.mark.parametrize("case", ERRORS)
def test_a_file_that_cannot_be_read_says_what_to_write(case):
    options, files, said = ERRORS[case]

    assert failure("evaluate", *words(options, files), "-m", "mrr").startswith(said)


@pytest.mark.parametrize("recs", ["user,item,rank\n1.0,10,1\n2.0,11,2\n", R.replace(",1", ", 1")])
def test_ids_of_another_form_are_noted(recs):
    write(of(recs))

    said = run("evaluate", "r.csv", "t.csv", "-m", "mrr").stderr

    assert "note: id_spellings: Ids that differ only by spaces or a trailing `.0`" in said


def test_a_file_of_a_header_alone_has_no_rows():
    write(of("user,item,rank\n"))

    found = run("evaluate", "r.csv", "t.csv", "-m", "mrr", "--format", "csv")

    assert found.stdout == "n_users,mrr\n2,0.0\n"
    assert "note: no_lists: Lists without a row" in found.stderr


def test_several_runs_are_models_by_the_names_of_their_files():
    write(
        {"one.run": "1 Q0 11 1 .9 a\n", "two.run": "1 Q0 10 1 .9 a\n1 Q0 11 2 .8 a\n", "t.csv": T}
    )

    found = run("evaluate", "*.run", "t.csv", "--model", "model", "-m", "mrr", "--format", "csv")

    assert found.stdout == "model,n_users,mrr\none,2,0.5\ntwo,2,0.25\n"


def test_segments_keep_their_zeros_and_prices_are_numbers():
    write(
        {
            **of(),
            "u.csv": "user,zip\n1,01067\n2,10115\n",
            "i.csv": "item,price\n10,1\n11,2.5\n12,NA\n",
        }
    )

    command = "evaluate r.csv t.csv --users u.csv --by zip -m mrr --format csv"
    by = run(*command.split())
    assert by.stdout == "zip,n_users,mrr\n01067,1,0.5\n10115,1,1.0\n"
    command = "evaluate r.csv t.csv --items i.csv -m diversity(of=price)@2"
    of_price = failure(*command.split())
    assert "'price' of 'i.csv' is Float64: a number is not a category" in of_price


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_split_keeps_the_dtypes_of_a_log(form):
    log = pl.DataFrame(
        {
            "user": [1, 1, 2, 2], "item": ["007", "7", "x", "y"], "rating": [4.5, 5.0, 1.0, 2.5],
            "count": [1, 2, 3, 4],
            "gift": [True, False, None, True], "day": pl.Series(["2024-05-01", "2024-05-02",
            None, "2024-05-03"]).str.to_date(),
            "time": pl.datetime_range(pl.datetime(2024, 5, 1), pl.datetime(2024, 5, 4), "1d",
            eager=True),
        }
    )  # fmt: skip
    log.write_csv("log.csv")

    result = run("split", "random", "log.csv", "--share", "0.5", "-o", "out", "--format", form)

    assert result.exit_code == 0, result.output
    train, truth = (Path(f"out/{part}.{form}") for part in ("train", "truth"))
    if form == "parquet":
        parts = (pl.read_parquet(part).select(log.columns) for part in (train, truth))
        assert_frame_equal(pl.concat(parts).sort("count"), log)
    else:
        rows = (train.read_text(encoding="utf-8") + truth.read_text(encoding="utf-8")).splitlines()
        lines = Path("log.csv").read_text(encoding="utf-8").splitlines()
        assert [sum(row.startswith(line) for row in rows) for line in lines] == [2, 1, 1, 1, 1]


def test_the_standard_input_is_a_file():
    write(of())
    words = "-m recframe evaluate - t.csv -m mrr --format csv"
    command = [sys.executable, *words.split()]
    done = subprocess.run(command, input=R, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    assert (done.stdout, done.stderr) == ("n_users,mrr\n2,0.75\n", "")
