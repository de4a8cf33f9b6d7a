# SPDX-License-Identifier: BSD-2-Clause
"""`tally triage` names what is wrong with a machine first, and is quiet on one that is well (staged.py)."""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

import staged
from staged import FIRST, HEALTHY, UNSEEN
from tally import BUILD, once

pytestmark = once

SECONDS = 3
MILLISECOND = 1_000_000



def triage():
    """What it has found, within the time that somebody in an incident waits."""
    began = time.monotonic()
    ran = subprocess.run(
        [BUILD / "tally", "triage", "--json", "-d", str(SECONDS)], capture_output=True, text=True, check=True
    )
    assert time.monotonic() - began < 15
    return json.loads(ran.stdout)


@contextlib.contextmanager
def staging(name):
    try:
        with staged.staged(name) as facts:
            yield facts
    except staged.Missing as missing:
        pytest.skip(str(missing))


def look(name):
    with staging(name) as facts:
        return facts, triage()


def is_about(finding, facts):
    return any(staged.is_about(each["row"], facts) for each in finding["evidence"])


def problems(page):
    return {each["rule"] for each in page["findings"] if each["level"] == "problem"}


def test_each_is_expected():
    assert set(FIRST) | UNSEEN | set(HEALTHY) == set(staged.INCIDENTS)
    assert len(FIRST) >= 20 and len(HEALTHY) >= 5


def test_the_kept_figures_are_of_each():
    """Those that tests/unit/test_triage_rules.c has the rules look at."""
    kept = {each["incident"]: each for each in map(json.loads, staged.KEPT.read_text().splitlines())}
    assert list(kept) == list(staged.INCIDENTS)
    for name, each in kept.items():
        assert each.get("first", []) == list(FIRST.get(name, ())) and each["paced"] == (name in staged.PACED), name


@pytest.mark.parametrize("name", FIRST)
def test_the_right_one_is_first(name):
    """Of what is said about those who are guilty, or suffer from it. Something else may be wrong with this machine,
    too."""
    facts, page = look(name)
    about = [each["rule"] for each in page["findings"] if is_about(each, facts)]
    # Everybody waits for a CPU on a machine that has other work.
    about = [rule for rule in about if rule in FIRST[name] or rule != "cpu-waits"]
    assert about and about[0] in FIRST[name], (facts, page["findings"])
    # A thread that a lock wakes has waited for a CPU, too, but for microseconds: nothing holds it back.
    waits = [
        each["row"]["avg"]
        for finding in page["findings"]
        if finding["rule"] == "held-back"
        for each in finding["evidence"]
    ]
    assert min(waits, default=MILLISECOND) >= MILLISECOND, waits


@pytest.mark.parametrize("name", HEALTHY)
def test_quiet_where_all_is_well(name):
    """What is a problem without the load, too, is one of what else this machine does."""
    _, page = look(name)
    found = problems(page)
    assert not found or not found - problems(triage()), page["findings"]


def cpu_seconds(pids):
    """Of processes and their children that have ended: /proc/PID/stat, utime to cstime."""
    ticks = 0
    for pid in filter(None, pids):
        ticks += sum(int(field) for field in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """Of all CPUs: /proc/stat without idle and iowait."""
    fields = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def cost_beside(facts):
    """What share of the machine the programs take, and what share others do, who are neither tally nor the load."""
    mine = [os.getpid(), facts.pid, facts.victim, *facts.pids]
    busy, own, began = busy_seconds(), cpu_seconds(mine), time.monotonic()
    page = triage()
    others = busy_seconds() - busy - (cpu_seconds(mine) - own)
    cpus = page["cpus"]
    return page["cost"]["programs_ns"] / page["duration_ns"] / cpus, others / (time.monotonic() - began) / cpus


# What others may take, for the load to be what the programs run for.
QUIET = 0.1


@pytest.mark.parametrize("name", ("idle", "idle-webserver", "half-loaded-worker"))
def test_costs_less_than_a_hundredth(name):
    """Of the machine, of the programs, on an ordinary load. They run for what others do, too: only a quiet machine
    can tell that it is too much. What the process takes is nearly all its start, whatever the load."""
    with staging(name) as facts:
        seen = []
        for _ in range(5):
            cost, others = cost_beside(facts)
            seen.append((round(cost, 5), round(others, 3)))
            if cost < 0.01:
                return
            assert others > QUIET, seen
    pytest.skip(f"costs, and what other work took of the machine: {seen}")
