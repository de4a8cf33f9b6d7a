# SPDX-License-Identifier: BSD-2-Clause
"""why: most of the time that the guilty are not idle has the cause that the staged incident makes. The next command of
triage's finding shows that cause, too."""

import json
import re
import shlex
import subprocess
from collections import Counter

import pytest

import staged
import tally
from staged import NEAREST
from tally import once
from test_first_finding import SECONDS, TRIALS, is_about, triage

# The state and the cause with the most time, for the victim if there is one, else for the guilty.
CAUSES = {
    "cpu-hog": ("user", "preempted", "run queue"),
    "cpu-hog-kernel": ("system", "preempted", "run queue"),
    "run-queue": ("preempted", "run queue"),
    "noisy-neighbour": ("preempted", "run queue"),
    "cgroup-throttled": ("throttled",),
    "futex-convoy": ("futex",),
    "slow-disk": ("disk",),
    "fsync-neighbour": ("disk",),
    "lock-over-fsync": ("futex",),
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


# Incidents with the rule of triage that has the next command, and what this prints: some of the facts, or any words.
NEXT = {
    "slow-function": ("busy", ("comm", "without_duplicates loads.py")),
    "noisy-neighbour": ("crowded-out", ("victim_comm", "run queue", "comm")),
    "lock-over-fsync": ("locks", ("futex", "fsync", "file")),
    "qdisc-drops": ("drops", ("QDISC_DROP", "device")),
}


def next_command(rule, facts):
    """The command of a finding about the guilty, or of a figure near to a limit."""
    for _ in range(TRIALS):
        page = triage()
        found = [each["next"] for each in page["findings"] if each["rule"] == rule and is_about(each, facts)]
        if facts.name in NEAREST:
            found += [each["next"] for each in page["nearest"] if each["rule"] == rule]
        # Others may come before, which the tests of findings judge; the command for this one is the same.
        found = [re.sub(r"-p \d+", f"-p {facts.victim or facts.pid}", each) for each in found]
        if found:
            # It is to end by itself.
            return shlex.split(found[0] if " -d " in found[0] else f"{found[0]} -d {SECONDS}")
    if facts.name in NEAREST and len(page["nearest"]) == 3:
        pytest.skip("figures of others are nearer to their limits")
    raise AssertionError((page["findings"], page["nearest"]))


@once
@pytest.mark.parametrize("name", NEXT)
def test_the_next_command_shows_the_cause(name):
    rule, shown = NEXT[name]
    try:
        with staged.staged(name) as facts:
            command = next_command(rule, facts)
            ran = subprocess.run([tally.BUILD / "tally", *command], capture_output=True, text=True, check=True)
    except staged.Missing as missing:
        pytest.skip(str(missing))
    for each in shown:
        assert str(getattr(facts, each, None) or each) in ran.stdout, (facts, command, ran.stdout)
