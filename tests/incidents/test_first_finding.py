# SPDX-License-Identifier: BSD-2-Clause
"""`tally triage` names what is wrong with a machine first, and is quiet on one that is well (staged.py)."""

import json
import subprocess

import pytest

import staged
from tally import BUILD, once

pytestmark = once

SECONDS = 3

# The rules that may stand first. Who is guilty has to be in the sentence, or in the evidence below it.
FIRST = {
    "cpu-hog": ("cpu-hog", "busy"),
    "cpu-hog-kernel": ("busy",),
    "fork-storm": ("processes",),
    "run-queue": ("held-back", "futexes", "cpu-waits"),
    "cgroup-throttled": ("held-back",),
    "small-reads": ("calls",),
    "enoent-storm": ("not-found",),
    "descriptor-leak": ("no-descriptors",),
    "futex-convoy": ("futexes",),
    "context-switches": ("switches",),
    "memory-leak": ("growth",),
    "page-fault-storm": ("page-faults",),
    "oom-in-cgroup": ("oom-kill",),
    "reclaim": ("reclaim",),
    "slow-disk": ("slow-disk", "slow-files"),
    "fsync-neighbour": ("slow-files",),
    "full-disk": ("no-space",),
    "tcp-drops": ("retransmissions",),
    "refused-connects": ("failed-connects",),
    "black-holed-connects": ("retransmissions",),
    "listen-overflow": ("failed-connects",),
    "deaths-by-signal": ("crash",),
    "stuck": ("stuck",),
}
# What triage does not look for: it costs nothing but entries in a table.
UNSEEN = {"zombies"}
HEALTHY = [name for name, each in staged.INCIDENTS.items() if not each.cause]


def triage():
    ran = subprocess.run([BUILD / "tally", "triage", "--json", "-d", str(SECONDS)], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def look(name):
    try:
        with staged.staged(name) as facts:
            return facts, triage()
    except staged.Missing as missing:
        pytest.skip(str(missing))


def is_about(finding, facts):
    names = {facts.comm, facts.victim_comm, facts.disk, facts.address} - {None}
    port = int(facts.address.rpartition(":")[2]) if facts.address else None
    for row in (each["row"] for each in finding["evidence"]):
        if names & set(str(value) for value in row.values()) or row.get("ppid") == facts.pid:
            return True
        if port and port in (row.get("lport"), row.get("rport")):
            return True
    return False


def test_each_is_expected():
    assert set(FIRST) | UNSEEN | set(HEALTHY) == set(staged.INCIDENTS)
    assert len(FIRST) >= 20 and len(HEALTHY) >= 5


@pytest.mark.parametrize("name", FIRST)
def test_the_right_one_is_first(name):
    """Of what is said about those who are guilty, or suffer from it. Something else may be wrong with this machine, too."""
    facts, page = look(name)
    about = [each["rule"] for each in page["findings"] if is_about(each, facts)]
    # Everybody waits for a CPU on a machine that has other work.
    about = [rule for rule in about if rule in FIRST[name] or rule != "cpu-waits"]
    assert about and about[0] in FIRST[name], (facts, page["findings"])


@pytest.mark.parametrize("name", HEALTHY)
def test_quiet_where_all_is_well(name):
    _, page = look(name)
    assert not [each for each in page["findings"] if each["level"] == "problem"], page["findings"]


@pytest.mark.parametrize("name", ("idle", "idle-webserver", "half-loaded-worker"))
def test_costs_less_than_a_hundredth(name):
    """Of the machine: programs and the process, start and end included."""
    _, page = look(name)
    cost = page["cost"]["programs_ns"] / page["duration_ns"] / page["cpus"]
    assert cost < 0.01, page["cost"]
