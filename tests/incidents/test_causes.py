# SPDX-License-Identifier: BSD-2-Clause
"""why: most of the time that the guilty are not idle has the cause that the staged incident makes."""

import json
import subprocess
from collections import Counter

import pytest

import staged
import tally
from tally import once

# The state and the cause with the most time, for the victim if there is one, else for the guilty.
CAUSES = {
    "cpu-hog": ("user", "preempted", "run queue"),
    "cpu-hog-kernel": ("system", "preempted", "run queue"),
    "run-queue": ("preempted", "run queue"),
    "cgroup-throttled": ("throttled",),
    "futex-convoy": ("futex",),
    "slow-disk": ("disk",),
    "fsync-neighbour": ("disk",),
    "stuck": ("child",),
    "java-monitor": ("futex",),
}


@once
@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_is_first(name):
    try:
        with staged.staged(name) as facts:
            ran = subprocess.run([tally.BUILD / "why", "--json", "--by", "pid,comm", "-d", "1.5"], capture_output=True,
                                 text=True, check=True)
    except staged.Missing as missing:
        pytest.skip(str(missing))
    report = json.loads(ran.stdout)
    spent = Counter()
    for row in report["rows"]:
        # Stuck tasks sleep through the whole second and a half, and have no time in any other state.
        pids = facts.pids or [facts.pid]
        guilty = row["comm"] == facts.victim_comm if facts.victim_comm else row["pid"] in pids
        if guilty and (row["state"] != "idle" or name == "stuck"):
            spent[row["cause"]] += row["time"]
    assert spent.most_common(1)[0][0] in CAUSES[name], (facts, spent)
