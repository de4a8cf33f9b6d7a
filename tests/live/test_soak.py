# SPDX-License-Identifier: BSD-2-Clause
"""Long runs, with TALLY_SOAK=1 only: TALLY_SOAK_SECONDS of them, an hour if not set."""

import os
import re
import time
from pathlib import Path

import pytest

import tally
from accounts import Work, check, tool_by_the_books, work  # noqa: F401
from tally import scaled, total

pytestmark = pytest.mark.skipif(not os.environ.get("TALLY_SOAK"), reason="runs with TALLY_SOAK=1")


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def test_forks_for_a_long_time(tool, trigger):
    """Nothing fills up, nothing grows, nothing is lost: millions of processes, a report a second,
    and at the end each wait has been counted."""
    tracer = tool("--json", "--comm", "tempest", 1)
    end = time.monotonic() + float(os.environ.get("TALLY_SOAK_SECONDS", 3600))
    waits, holes, memory = [], 0, []
    while not waits or time.monotonic() < end:
        load = trigger("storm", scaled(20000), 4, 0, comm="tempest")
        w = work(load)
        load.close()
        _, _, n, delay, *_ = w.said[0]
        waits += [tally.Books(0, delay, n), total(w.grown)]
        holes += w.holes
        memory.append(resident_kib(tracer.pid))
    reports = tracer.stop().reports
    whole = {
        "groups": [g for r in reports for g in r["groups"]],
        "unaccounted": sum(r["unaccounted"] for r in reports),
        "lost": {why: sum(r["lost"][why] for r in reports) for why in reports[0]["lost"]},
    }
    # Between two books the trigger is made and ends: its own waits then, some each time.
    grown = total(waits)
    extra = tally.count(whole["groups"]) - grown.count
    assert -holes <= extra <= 20 * len(memory) + whole["unaccounted"]
    assert not whole["lost"]["map_full"] and not whole["lost"]["no_memory"]
    if extra <= 0:
        check(whole, Work({}, [], holes), grown)
    assert memory[-1] <= memory[len(memory) // 10] * 1.1 + 1024, memory
