# SPDX-License-Identifier: BSD-2-Clause
"""tally diff: two runs of one load with other numbers, and exactly those are told."""

import csv
import io
import json
import os
import subprocess
import xml.etree.ElementTree as ET

import pytest

import tally
from tally import once

PREAD = ("syscalls:sys_enter_pread64", "--hist", "count")


@pytest.fixture
def record(tool, trigger, tmp_path):
    """Saves a run of a tool over a load: record(tool, args, load) is the file."""
    saved = []

    def record_run(name, args, load):
        started = trigger(*load)
        path = tmp_path / f"{len(saved)}.json"
        saved.append(path)
        tracer = tool(*args, "-p", started.pid, "--json", "-o", path, tool=name)
        started.go()
        started.done()
        assert tracer.stop().code == 0
        return path

    return record_run


def diff(*args):
    """Its exit status, and both outputs. Not by a link: diff(1) is another program."""
    done = subprocess.run([tally.BUILD / "tally", "diff", *args], capture_output=True, text=True,
                          timeout=tally.PATIENCE)
    return done.returncode, done.stdout, done.stderr


def rows(*args):
    code, out, err = diff("--json", *args)
    assert code == 0 and not err
    report = json.loads(out)
    assert report["tool"] == "diff"
    return report["rows"]


def figures(*args):
    return {row["figure"]: row for row in rows(*args)}


def test_percentiles_and_counts(record):
    """Of 1000 reads 900 ask for 64 bytes, then for 512; the others as ever."""
    before = record("probe", PREAD, ("reads", 900, 64, 99, 4096, 1, 65536))
    after = record("probe", (*PREAD, "-I", 20), ("reads", 900, 512, 99, 4096, 1, 65536))
    found = figures(before, after)
    assert {name: (row["before"], row["after"]) for name, row in found.items()} == {
        "count": (1000, 1000),
        "avg": ((900 * 64 + 99 * 4096 + 65536) // 1000, (900 * 512 + 99 * 4096 + 65536) // 1000),
        "p50": (67, 543), "p90": (67, 543), "p99": (4351, 4351), "p99.9": (4351, 4351),
        "max": (65536, found["max"]["after"]),
    }
    assert found["p50"]["verdict"].startswith("grew by 476, to 8.1")
    assert found["p99"]["verdict"] == "same"
    # Of several intervals, the maximum may be known to a bucket only.
    assert 65536 <= found["max"]["after"] < 65536 * 17 // 16
    assert found["max"]["verdict"] in ("same", "within a bucket")
    assert found["count"]["change_percent"] == 0

    code, text, _ = diff(before, after)
    assert code == 0 and "grew by 476" in text and "p99.9" in text
    assert len(diff("--csv", before, after)[1].splitlines()) == 1 + len(found)


def test_a_bucket_is_not_a_move(record):
    one, two = (record("probe", PREAD, ("reads", 100, size)) for size in (1024, 1100))
    assert figures(one, two)["p50"]["verdict"] == "within a bucket"


def test_tables(record):
    """Rows by their keys; one is new, one is gone."""
    args = ("syscalls:sys_enter_pread64", "--count", "--by", "count")
    before = record("probe", args, ("reads", 5, 10, 7, 20))
    after = record("probe", args, ("reads", 9, 10, 3, 30))
    found = {(row["before"], row["after"], row["verdict"]) for row in rows(before, after)
             if row["figure"] == "count"}
    assert found == {(5, 9, ""), (7, None, "gone"), (None, 3, "new")}


def test_stacks_and_flame_graph(record, tmp_path):
    """Stacks of reads, counted exactly; as a flame graph, in shares."""
    args = ("syscalls:sys_enter_pread64",)
    before, after = (record("stackcount", args, ("reads", n, 10)) for n in (100, 250))
    stacks = [row for row in rows(before, after) if row["part"] == "stack"]
    assert sum(row["before"] for row in stacks) == 100
    assert sum(row["after"] for row in stacks) == 250
    path = tmp_path / "diff.svg"
    code, out, err = diff(before, after, "--format", "flame", "-o", path)
    assert (code, out, err) == (0, "", "")
    said = "".join(ET.fromstring(path.read_bytes()).itertext())
    assert "all\n250 events, 100.00%\nbefore: 100 events, 100.00%; +0.00 points" in said


@once
@pytest.mark.parametrize("name, args", (
    ("syscount", ()), ("runqlat", ("--by", "tid")), ("stackcount", ("syscalls:sys_enter_pread64",)),
    ("probe", ("syscalls:sys_enter_pread64", "--by", "count")), ("probe", PREAD),
))
def test_csv_without_rows_has_a_heading(run, record, tmp_path, name, args):
    """The heading of a comparison with rows, without the keys, which no row tells."""
    none = tmp_path / "none.json"
    assert run(*args, "--comm", "no such", "-d", 0.01, "--json", "-o", none, tool=name).code == 0
    many = record(name, args, ("reads", 5, 10, 7, 20))
    (empty, *no_rows), (full, *rows) = (
        list(csv.reader(io.StringIO(diff("--csv", path, path)[1]), strict=True)) for path in (none, many))
    assert rows and not any(row[empty.index("before")] not in ("", "0") for row in no_rows)
    assert set(empty) <= set(full) and {"before", "after"} <= set(empty), (empty, full)


@once
def test_what_cannot_be_compared(record, tmp_path):
    reads = record("probe", PREAD, ("reads", 1, 10))
    other = record("runqlat", (), ("spin", 1, 1, 0))
    bad = tmp_path / "bad.json"
    bad.write_text(reads.read_text() + '{"tool":\n')
    os.mkfifo(tmp_path / "fifo")
    for args, code, says in (
            ((reads, other), 1, "runs of one tool are compared"),
            ((reads, bad), 1, "bad.json:2: not a report of tally"),
            ((reads, "/no/such"), 1, "/no/such: No such file or directory"),
            ((reads, tmp_path), 1, "Is a directory"),
            ((reads,), 2, "two files are compared"),
            ((reads, reads, reads), 2, "two files are compared"),
            ((reads, reads, "--format", "flame"), 1, "for stacks"),
            ((reads, reads, "--format", "folded"), 2, "not one of"),
    ):
        got, out, err = diff(*args)
        assert (got, out) == (code, ""), (args, got, out, err)
        assert says in err


@once
def test_formats_by_name(record):
    """--format json is --json, as in other tools."""
    files = [record("probe", PREAD, ("reads", 9, 64)) for _ in range(2)]
    for name in ("json", "csv"):
        short = diff(*files, f"--{name}")
        assert diff(*files, "--format", name) == short and short[0] == 0 and short[1], short
    assert diff(*files, "--format", "text") == diff(*files)
    assert "<html" in diff(*files, "--format", "html")[1]


@once
def test_is_no_program_of_its_own():
    """A link of that name would hide diff(1)."""
    assert not (tally.BUILD / "diff").exists()
    assert "diff" in subprocess.run([tally.BUILD / "tally"], capture_output=True, text=True).stdout


@once
def test_lengths_of_the_runs(record):
    """Both are named where they differ by more than 2 %: 7 % are no reason to compare nothing."""
    files = [record("probe", PREAD, ("reads", 9, 64)) for _ in range(2)]
    for path, ns in zip(files, (2_000_000_000, 2_140_000_000)):
        path.write_text(json.dumps({**json.loads(path.read_text()), "duration_ns": ns}))
    code, out, err = diff("--json", *files)
    assert code == 0 and not err
    assert json.loads(out)["note"] == "the runs took 2.00 s and 2.14 s: counts and sums differ by that alone"
