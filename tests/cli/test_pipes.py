"""Pipes are read where a file is, and a packed file that is cut off is an error."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest

from shop_files import TWO, TWO_TRUTH, evaluate, failure, run, write_tables


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files, and leave nothing in that of temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    write_tables()
    yield tmp_path
    assert not [*(tmp_path / "temporary").iterdir()]


def csv(frame: pl.DataFrame) -> bytes:
    return frame.write_csv().encode()


def ndjson(frame: pl.DataFrame) -> bytes:
    return frame.write_ndjson().encode()


def rows_of_json(frame: pl.DataFrame) -> bytes:
    return json.dumps(frame.to_dicts()).encode()


def arrow(frame: pl.DataFrame) -> bytes:
    return frame.write_ipc(None).getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    frame.write_parquet("written.parquet")
    return Path("written.parquet").read_bytes()


def zstd(content: bytes) -> bytes:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    compress: Callable[[bytes], bytes] = pytest.importorskip(module).compress
    return compress(content)


FORMS = {
    "csv": csv, "ndjson": ndjson, "json": rows_of_json, "arrow": arrow, "ipc": arrow, "pq": parquet,
}  # fmt: skip
PACKED = {".gz": gzip.compress, ".zst": zstd}


@contextmanager
def pipes(*contents: bytes, name: str = "/dev/fd/{}") -> Iterator[list[str]]:
    """Give paths of pipes with some content, as those of <(...) in a shell, or as named ones."""
    paths, ends, writers = [], [], []
    for number, content in enumerate(contents):
        if name.startswith("/dev"):
            end, other = os.pipe()
            ends.append(end)
            paths.append(name.format(end))
        else:
            paths.append(name.format(number))
            other = paths[-1]
            os.mkfifo(other)

        def write(other: int | str = other, content: bytes = content) -> None:
            # a reader whose disk is full leaves before all is written
            with suppress(BrokenPipeError), open(other, "wb") as file:  # noqa: PTH123  a number is no path
                file.write(content)

        writers.append(threading.Thread(target=write, daemon=True))
        writers[-1].start()
    yield paths
    for end in ends:
        os.close(end)
    for writer in writers:
        writer.join(10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_pipe_is_read_as_its_file(form, is_named):
    name = f"pipe{{}}.{form}" if is_named else "/dev/fd/{}"
    made = [FORMS[form](frame) for frame in (TWO, TWO_TRUTH)]
    with pipes(*made, name=name) as (recs, truth):
        found = evaluate(recs, truth, "-m", "dcg@1", "--by", "user")

    # user 1 has gain 3 at rank 1, the others have none
    assert found["dcg@1"].to_list() == [3.0, 0.0, 0.0]


def test_a_pipe_may_be_packed_have_another_separator_and_no_header():
    text = TWO.write_csv(separator=";", include_header=False).encode()
    options = ("--separator", "recs=;", "--header", "recs=user,item,rank")
    with pipes(text, gzip.compress(csv(TWO_TRUTH))) as (recs, truth):
        assert evaluate(recs, truth, *options, "-m", "dcg@1")["dcg@1"].item() == 1.0


def test_a_pipe_is_an_earlier_result_too():
    run("summarize", "two.parquet", "two_truth.parquet", "-m", "mrr", "-o", "last.csv")
    with pipes(Path("last.csv").read_bytes()) as (last,):
        required = ("mrr >= 0.9 * last", "--last", last, "--min-users", "1")
        assert run("require", "two.parquet", "two_truth.parquet", *required).exit_code == 0


def test_what_is_wrong_with_a_pipe_names_it():
    with pipes(b"user;item;rank\n1;2;3\n") as (recs,):
        assert failure("evaluate", recs, "truth.parquet").startswith(
            f"{recs!r} has no column 'user'. It has 'user;item;rank'."
        )
    pl.read_parquet("truth.parquet").write_csv("truth.csv")
    with pipes(b"a Q0 b 1\n", name="pipe{}.run") as (recs,):
        said = failure("evaluate", recs, "truth.csv")
        assert said.startswith("line 1 of 'pipe0.run' is")


# packed files


@pytest.mark.parametrize("form", ["csv", "ndjson", "json"])
@pytest.mark.parametrize("ending", PACKED)
def test_a_packed_file_is_read_and_damage_is_told(form, ending):
    whole, path = PACKED[ending](FORMS[form](TWO)), f"recs.{form}{ending}"
    Path(path).write_bytes(whole)
    assert evaluate(path, "two_truth.parquet", "-m", "dcg@1")["dcg@1"].item() == 1.0

    for cut_off in (whole[:-5], whole[: len(whole) // 2]):
        Path(path).write_bytes(cut_off)
        said = failure("evaluate", path, "two_truth.parquet")
        assert said.startswith((f"cannot read {path!r}: ", "the files cannot be read: "))
