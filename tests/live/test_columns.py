# SPDX-License-Identifier: BSD-2-Clause
"""Every reader takes a column for the same: of each tool with --by, for each key of its own.

A line is recorded over several intervals. Their reports, added up here by the roles that they state, are what `show`
makes of them. In metrics and comparisons no key is a figure.
"""

import re
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import tally
from test_every_tool import MODULES, NEEDED, names
from test_record import of, show

# Keys that are numbers, signed ones among them; means, minima, maxima.
MORE = {
    "bpftop": ("--by program", "--by owner", "--by type"),
    "kmem": ("--pages --by order", "--pages --by migratetype"),
    "probe": (
        "syscalls:sys_enter_read --by count",
        "syscalls:sys_exit_read --by ret",
        "syscalls:sys_exit_read --by tid --count --sum ret --avg ret --min ret --max ret",
    ),
    "profile": ("--by dso",),
    "runqlat": ("--table --by tid",),
    "timehist": ("--summary=only",),
    "trace": ("--summary",),
    "vitals": ("--all",),
}
# Keys that most tools have: one stands for all. Keys of a frame are tested once.
EVERYWHERE = {"pid", "tid", "comm", "cgroup", "container", "unit", "cpu", "pidns", "uid", "dso", "sym"}

# Stacks are merged by functions, too, and take long to be named: tests of their own.
OF_STACKS = {"offcputime", "offwaketime", "wakeuptime", "stackcount", "memleak", "profile"}

# A report is the state at its end: the last one counts.
STANDING = {"snap"}

# Reads of different sizes and results, allocations, files, switches, a connection.
WORK = """
d=$(mktemp -d)
for n in 1 2 3 4; do
    head -c $((n * 100)) /dev/zero > $d/$n; head -c 7 $d/$n > /dev/null; cat $d/nosuch 2> /dev/null; sleep .02
done
dd if=/dev/zero of=$d/file bs=4k count=16 conv=fsync 2> /dev/null; rm -r $d
"""


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", [name for name in names() if name not in MODULES and lines(name)])


def lines(name):
    """The command lines of a tool that stand for its keys."""
    text = subprocess.run([tally.BUILD / name, "--help"], capture_output=True, text=True, check=True).stdout
    said = re.search(r"--by=KEY,\.\.\s+One result per (.*(?:\n {20,}\S.*)*)", text)
    words = re.findall(r"\b[a-z_]+\b(?=,|\s*$|, or)", said[1].replace("of this tool:", ""), re.M) if said else []
    words = [] if name in OF_STACKS else words
    keys = ["tid"] * ("tid" in words) + [key for key in words if key not in EVERYWHERE | {"func", "expression"}]
    needed = " ".join(NEEDED.get(name, ()))
    return [f"{name} {needed} --by {key}".replace("  ", " ") for key in keys] + \
        [f"{name} {line}" for line in MORE.get(name, ())]


def is_taken(run, line, *more):
    tool, *args = line.split()
    return run("-n", *args, *more, tool=tool).code == 0


def contents(report):
    """The rows of a report by key; figures of histograms are their count and sum."""
    keys = [name for name, column in report.get("columns", {}).items() if column["role"] == "key"]
    rows = report.get("rows")
    if rows is None:
        rows = [{**group["key"], "count": group["count"], "sum": group["sum"]} for group in report["groups"]]
    return {tuple(row.get(name) for name in keys): row for row in rows}


def added_up(reports, columns):
    """{key: row} of all of them."""
    role = {} if "rows" in reports[0] else {"count": "counter", "sum": "counter"}
    role |= {name: column["role"] for name, column in columns.items()}
    found = {}
    for report in reports:
        for key, row in contents(report).items():
            sums = found.setdefault(key, dict.fromkeys(role))
            for name in role:
                before, now = sums[name], row.get(name)
                if now is None or role[name] in ("at", "gauge", "remark", "percent", "mean"):
                    continue
                if role[name] == "counter":
                    sums[name] = now + (before or 0)
                elif role[name] in ("maximum", "minimum") and before is not None:
                    sums[name] = (max if role[name] == "maximum" else min)(before, now)
                else:
                    sums[name] = now
                for at, column in columns.items():
                    if column["role"] == "at" and column["of"] == name and now == sums[name] != before:
                        sums[at] = row[at]
    for sums in found.values():
        for name, column in columns.items():
            of, per = (sums.get(column.get(part)) for part in ("of", "per"))
            if column["role"] == "mean" and of is not None and per:
                sums[name] = of // per if isinstance(of, int) else of / per
    return found


def check_whole(whole, apart):
    """The report of all intervals has the rows of each of them, added up. Returns its keys."""
    columns = {name: column for report in apart for name, column in report.get("columns", {}).items()}
    assert whole.get("columns", {}) == columns
    if whole["tool"] in STANDING:
        apart = apart[-1:]
    expected, found = added_up(apart, columns), contents(whole)
    assert set(expected) == set(found)
    for key, row in found.items():
        for name, value in expected[key].items():
            if value is None or name not in row:
                continue
            # Means of counts are real; the tool's own have two decimals in text only.
            near = isinstance(row[name], float) or columns.get(name, {}).get("role") == "mean"
            assert row[name] == (pytest.approx(value, rel=1e-9, abs=1) if near else value), (key, name)
    return [name for name, column in columns.items() if column["role"] == "key"]


def check_comparison(run, path, line, whole, keys):
    """The run compared with itself has a row for each figure of each key, and no difference."""
    window = f"{path}@@0-@{2 ** 32}"
    compared, = of(run("diff", window, window, line, "--json", "--top", 10 ** 6, tool="tally"))
    assert {row["figure"] for row in compared["rows"]}.isdisjoint(keys), (line, compared)
    assert all(row["before"] == row["after"] for row in compared["rows"]), (line, compared)
    # A key with "of" is valid in one run only: it is left out.
    lasting = [key for key in keys if "of" not in whole["columns"][key]]
    expected = {tuple(row.get(key) for key in lasting) for row in contents(whole).values()}
    assert {tuple(row[key] for key in lasting) for row in compared["rows"]} == expected, line


def check_metrics(run, recorded):
    """In metrics a key is a label, and never the figure."""
    served = [line for line in recorded if is_taken(run, line, "--format", "openmetrics")]
    if not served:
        return
    result = run("--format", "openmetrics", "-d", "0.1", *served, tool="run")
    assert result.code == 0, result
    for family in text_string_to_metric_families(result.text):
        for sample in family.samples:
            line = sample.labels.get("measurement")
            keys = {re.sub(r"\W+", "_", key) for key in recorded.get(line, ())}
            tool = str(line).split()[0]
            if family.name.startswith(f"tally_{tool}_"):
                assert keys <= set(sample.labels), sample
                assert not {f"tally_{tool}_{key}{unit}" for key in keys for unit in ("", "_bytes")} & {family.name}


@tally.once
def test_columns_are_the_same_in_every_reader(run, name, tmp_path):
    recorded = {line: () for line in lines(name) if is_taken(run, line)}
    if not recorded:
        pytest.skip("this kernel cannot do it, or it is not recorded")
    path = tmp_path / "recording"
    load = subprocess.Popen(["sh", "-c", WORK], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        result = run("-o", path, *recorded, "0.1", "-d", "0.5", tool="record")
    finally:
        load.wait(tally.PATIENCE)
    assert result.code == 0, result
    for line in recorded:
        apart = show(run, path, line, "--each")
        if not any(contents(report) for report in apart):
            continue        # nothing happened: another test says whether that is right
        whole, = show(run, path, line)
        recorded[line] = check_whole(whole, apart)
        check_comparison(run, path, line, whole, recorded[line])
    check_metrics(run, recorded)
