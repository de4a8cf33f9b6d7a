# SPDX-License-Identifier: BSD-2-Clause
"""A tool in a time namespace (a container that was migrated, say): the kernel's times are those of the host, and the
tool's own monotonic clock is days apart."""

import json
import subprocess
import time

import pytest

from probing import check
from tally import BUILD, PATIENCE

DAY = 86400
N = 5


def away(*command, check=True):
    prefix = "unshare", "--time", "--monotonic", str(10 * DAY), "--fork"
    whole = [*prefix, *map(str, command)]
    return subprocess.run(
        whole, check=check, timeout=PATIENCE, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


pytestmark = pytest.mark.skipif(away("true", check=False).returncode != 0, reason="no time namespaces here")


def test_lines(directory):
    """They happened now, and no call counts as begun before the run."""
    saved, before = directory / "lines", time.time_ns()
    load = BUILD / "triggers" / "syscalls", 1, f"110:{N}"
    away(BUILD / "trace", "--json", "-o", saved, "-e", "getppid", "--", *load)
    after = time.time_ns()
    *lines, report = [json.loads(line) for line in saved.read_text().splitlines()]
    assert len(lines) == report["events"] == N and "begun_before" not in report
    assert all(before <= line["time_ns"] <= after for line in lines)
    assert before <= report["start_ns"] <= report["start_ns"] + report["duration_ns"] <= after


def test_intervals(directory):
    """They end when they should: neither at once, nor in ten days."""
    began = time.monotonic_ns()
    reports = [json.loads(line) for line in away(BUILD / "runqlat", "--json", "-I", 50, "-d", 0.2).stdout.splitlines()]
    elapsed = time.monotonic_ns() - began
    assert len(reports) > 1 and all(check(report)["duration_ns"] > 0 for report in reports)
    assert 150_000_000 <= sum(report["duration_ns"] for report in reports) <= elapsed
