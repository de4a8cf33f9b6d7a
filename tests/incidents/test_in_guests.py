# SPDX-License-Identifier: BSD-2-Clause
"""Problems that `tally triage` can name on some kernels only: staged on those, and in guests (tests/kernels), too."""

import contextlib
import json
import re
import subprocess

import pytest

import staged
from tally import BUILD, wait_until
from test_every_tool import attaches_to_functions

SECONDS = 5


@contextlib.contextmanager
def leak_above_high():
    """A process grows in a cgroup above its memory.high: Facts, and a function that reads how often it was above."""
    with contextlib.ExitStack() as ends:
        stage = staged.Stage("memory-high", ends)
        try:
            group = stage.cgroup("memory", {"memory.high": None}, {"memory.high": str(32 * staged.MIB)})
        except staged.Missing as missing:
            pytest.skip(str(missing))

        def times():
            return int(re.search(r"^high (\d+)", (group.folder / "memory.events").read_text(), re.M)[1])

        yield staged.Facts("memory-high", "memory.high", **stage.start("leak", cgroup=group), cgroup=group.path), times


@pytest.mark.everywhere
@pytest.mark.skipif(not attaches_to_functions(), reason="no fentry")
def test_sleeps_above_memory_high():
    """The first finding about the process or its cgroup is that it sleeps. Its next command is about them."""
    with leak_above_high() as (facts, times):
        wait_until(lambda: times() > 100, "the kernel to hold it back")
        before = times()
        ran = subprocess.run(
            [BUILD / "tally", "triage", "--json", "-d", str(SECONDS)], capture_output=True, text=True, check=True)
        assert times() > before
    findings = json.loads(ran.stdout)["findings"]
    first = next(each for each in findings if any(staged.is_about(key["row"], facts) for key in each["evidence"]))
    assert (first["rule"], first["level"]) == ("memory-high", "problem"), findings
    assert f"{facts.comm} in cgroup {facts.cgroup}" in first["sentence"]
    assert first["next"] == f"reclaim --by pid -G {facts.cgroup} 1"
    # One process cannot sleep for longer than the time.
    (key,) = first["evidence"]
    assert key["row"]["comm"] == facts.comm and key["value"] <= 1, first
