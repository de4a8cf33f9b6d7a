# SPDX-License-Identifier: BSD-2-Clause
"""`tally triage` names the staged problem (staged.py) first, and reports none for a healthy load."""

import contextlib
import json
import re
import subprocess
import time

import pytest

import staged
from staged import FIRST, HEALTHY, NEAREST, UNSEEN
from tally import BUILD, books, cpu_ns, once, steady, within

pytestmark = once

SECONDS = 3
TRIALS = 5
MILLISECOND = 1_000_000
# CPUs: the limit of the rule busy.
BUSY = 0.7


def triage():
    """The JSON page of a run of triage."""
    ran = subprocess.run(
        [BUILD / "tally", "triage", "--json", "-d", str(SECONDS)], capture_output=True, text=True, check=True
    )
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
    assert set(FIRST) | set(NEAREST) | UNSEEN | set(HEALTHY) == set(staged.INCIDENTS)
    assert len(FIRST) >= 20 and len(HEALTHY) >= 5


def test_the_kept_figures_are_of_each():
    """tests/unit/test_triage_rules.c runs the rules on these figures."""
    kept = {each["incident"]: each for each in map(json.loads, staged.KEPT.read_text().splitlines())}
    assert list(kept) == list(staged.INCIDENTS)
    for name, each in kept.items():
        assert each.get("first", []) == list(FIRST.get(name, ())) and each["paced"] == (name in staged.PACED), name


@pytest.mark.parametrize("name", FIRST)
def test_the_right_one_is_first(name):
    """The first finding about the guilty or the victim is the right one. This machine may have other problems,
    too."""
    facts, page = look(name)
    about = [each["rule"] for each in page["findings"] if is_about(each, facts)]
    # Everybody waits for a CPU if the machine has other work.
    about = [rule for rule in about if rule in FIRST[name] or rule != "cpu-waits"]
    assert about and about[0] in FIRST[name], (facts, page["findings"])
    # A thread that a lock wakes also waits for a CPU, but for microseconds: nothing holds it back.
    waits = [
        each["row"]["avg"]
        for finding in page["findings"]
        if finding["rule"] == "held-back"
        for each in finding["evidence"]
    ]
    assert min(waits, default=MILLISECOND) >= MILLISECOND, waits


def test_victim_and_neighbour():
    """The victim is named, unless three others wait for longer; and so is who has most of the CPUs."""
    def trial():
        used, before, began = cpu_share(facts.pid), books(facts.victim), time.monotonic()
        page = triage()
        share = used() / page["cpus"]
        waits = (books(facts.victim).delay_ns - before.delay_ns) / 1e9 / (time.monotonic() - began)
        found = [each for each in page["findings"] if each["rule"] == "crowded-out"]
        # Other work on this machine may leave the neighbour little, or the victim little to wait for.
        within(share > 0.3 and waits > 0.4, share, waits)
        assert len(found) == 1, page["findings"]
        rows = {each["row"]["pid"]: each["value"] for each in found[0]["evidence"]}
        if facts.victim in rows:
            within(waits / 2 < rows[facts.victim] < waits * 1.5, rows, waits)
        else:
            within(len(rows) == 3 and min(rows.values()) > waits / 2, rows, waits)
        within(f"{facts.comm} (pid {facts.pid}) takes" in found[0]["sentence"], found)

    with staging("noisy-neighbour") as facts:
        steady(trial)


def test_drops_are_those_of_the_queue():
    """The figure of triage against the counter of the queue, which has more: it is read before and after."""
    def trial():
        before, began = staged.qdisc_drops_of(facts), time.monotonic()
        page = triage()
        dropped, seconds = staged.qdisc_drops_of(facts) - before, time.monotonic() - began
        within(dropped / seconds > 50, "the sender gets no CPU", dropped, seconds)
        rows = [
            each["row"]
            for finding in page["findings"]
            if finding["rule"] == "drops"
            for each in finding["evidence"]
            if each["row"]["device"] == facts.device
        ]
        assert len(rows) == 1 and rows[0]["reason"] == "QDISC_DROP", page["findings"]
        assert rows[0]["drops"] <= dropped, (rows, dropped)
        within(rows[0]["drops"] / page["duration_ns"] * 1e9 > 0.7 * dropped / seconds, rows, dropped, seconds)

    with staging("qdisc-drops") as facts:
        steady(trial)


def cpu_share(pid):
    """A function that returns how many CPUs the process has used since, by the kernel's count."""
    before, began = cpu_ns(pid), time.monotonic()
    return lambda: (cpu_ns(pid) - before) / 1e9 / (time.monotonic() - began)


@pytest.mark.parametrize("name", NEAREST)
def test_nearest_to_a_limit(name):
    """No finding names the guilty as a cause, but a next command does; unless others come nearer to a limit."""
    with staging(name) as facts:
        used = cpu_share(facts.pid)
        page = triage()
        share = used() / BUSY
    about = {each["rule"] for each in page["findings"] if is_about(each, facts)}
    assert about <= {"cpu-waits"}, page["findings"]
    near = page["nearest"]
    named = [
        each for each in near if each["rule"] == NEAREST[name] and re.search(rf"\b{facts.pid}\b", each["next"])
    ]
    if named:
        assert named[0]["share"] < 0.8, near
    else:
        before = [each["share"] for each in near if each["rule"] == NEAREST[name]] or [each["share"] for each in near]
        # The figures are not of the same moments.
        assert (len(near) == 3 or len(before) == 1) and min(before) > share * 0.8, (share, near)


@pytest.mark.parametrize("name", HEALTHY)
def test_quiet_where_all_is_well(name):
    """A problem that is there without the load, too, comes from something else on this machine."""
    _, page = look(name)
    found = problems(page)
    assert not found or not found - problems(triage()), page["findings"]
