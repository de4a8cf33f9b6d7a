# SPDX-License-Identifier: BSD-2-Clause
"""The tools that docs/adding-a-tool.md writes must build and be right, as the page stands."""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from accounts import work
from tally import Blurred, once, steady, total, within

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-tool.md"


def files_of_page():
    """{path: text} of the code blocks that follow a heading naming a file."""
    found = re.findall(r"^## \d\. [^`\n]*`([^`\n]+)`\n.*?^```c\n(.*?)^```", PAGE.read_text(),
                       re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree") / "tally"
    # With what is built already: it is as new as its sources. Not with other machines' roots, which have devices that
    # never end.
    shutil.copytree(
        ROOT,
        tree,
        ignore=shutil.ignore_patterns(
            ".git", "tests", "kernels", "packages", "dist", "arm64", "asan", "obj-asan", "corpus*"
        ),
    )
    files = files_of_page()
    assert sorted(files) == [
        f"{start}{end}"
        for start, end in itertools.product(("bpf/sched/runs", "bpf/sched/slices"), (".bpf.c", ".h"))
    ] + ["tools/sched/runs.c", "tools/sched/slices.c"]
    assert len(files["tools/sched/runs.c"].splitlines()) <= 60
    for name, text in files.items():
        (tree / name).write_text(text)
    subprocess.run(["make", "-j2", "-C", str(tree)], check=True, stdout=subprocess.DEVNULL)
    return tree / "build"


@once
def test_is_listed(built):
    out = subprocess.run([built / "tally"], capture_output=True, text=True, check=True).stdout
    assert {"slices", "runs"} <= set(out.split())


@once
def test_sum_is_the_run_time_of_schedstat(built, tool, trigger):
    """Slices between two points of rest: as many as it was switched in, and as long as it ran."""

    def trial():
        load = trigger("spin", 2, 50, -1)
        tracer = tool("--json", "-P", "-p", load.pid, tool=built / "slices")
        w = work(load)
        group, = tracer.stop().report["groups"]
        if w.holes:
            raise Blurred
        grown = total(w.grown)
        assert group["key"]["pid"] == load.pid
        assert group["count"] == grown.count
        # The page's first number is sum_exec_runtime, which is kept on the clock of task time
        # (without interrupts and stolen time) and not on the run queue's: it is never more, and
        # on a machine that others share it can be somewhat less.
        within(0.5 * group["sum"] <= grown.run_ns <= group["sum"] * 1.001, group, grown)

    steady(trial)


@once
def test_columns_of_the_table(built):
    """The table beside the histogram, in one run: each event is in both."""
    rests = "import time; [time.sleep(0.001) for _ in range(50)]"
    both = subprocess.run(
        [built / "tally", "run", "slices -P", "runs -P --sort avg", "--json", "--", sys.executable, "-c", rests],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    reports = {report["tool"]: report for report in map(json.loads, both.splitlines()) if "tool" in report}
    (group,) = reports["slices"]["groups"]
    (row,) = reports["runs"]["rows"]
    assert (row["pid"], row["runs"], row["time"]) == (group["key"]["pid"], group["count"], group["sum"])
    assert row["avg"] == group["sum"] // group["count"]
    assert row["max"] == group["max"]
    assert reports["runs"]["events"] == row["runs"] >= 50
    refused = subprocess.run([built / "runs", "--sort", "sum"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "unknown column 'sum'; expected one of runs, time, avg, max, key" in refused.stderr
