# SPDX-License-Identifier: BSD-2-Clause
"""The tool that docs/adding-a-tool.md writes must build and be right, as the page stands."""
import pathlib
import re
import shutil
import subprocess

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
    assert sorted(files) == ["bpf/sched/slices.bpf.c", "bpf/sched/slices.h", "tools/sched/slices.c"]
    for name, text in files.items():
        (tree / name).write_text(text)
    subprocess.run(["make", "-j2", "-C", str(tree)], check=True, stdout=subprocess.DEVNULL)
    return tree / "build"


@once
def test_is_listed(built):
    out = subprocess.run([built / "tally"], capture_output=True, text=True, check=True).stdout
    assert "slices" in out


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
