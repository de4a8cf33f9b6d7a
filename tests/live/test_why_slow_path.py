# SPDX-License-Identifier: BSD-2-Clause
"""why --slow --critical-path: which threads slow calls waited for, and what these did, by their own clocks."""

import json
from collections import namedtuple

import pytest

import schema
from probing import binary
from tally import Blurred, flaws, scaled, steady, within

RELAY = binary("relay")

OF = {
    "call": ("-x", RELAY, "--slow", "handle"),
    "events": ("-x", RELAY, "--from", "handle", "--to", "handle%return"),
}

# A side as the trigger knows it: see there.
Side = namedtuple("Side", "calls inner outer own worker helper naps")

# A thread's own clock stops in the middle of each switch, and time that a hypervisor took is not on it.
CLOCKS = 0.02


def relay(tool, trigger, *options, of=OF["call"], calls=None, ms=40, threads=lambda load: ("-p", load.pid)):
    load = trigger("relay", calls or scaled(60), ms)
    tracer = tool("--critical-path", "--json", *of, *options, *threads(load), tool="why")
    load.go()
    numbers = load.done()
    result = tracer.stop()
    assert result.code == 0, result
    report = json.loads(result.text.splitlines()[-1])
    schema.check(report)
    if report["lost"]["missed"] or numbers[14]:
        raise Blurred
    return report, Side(*numbers[:7]), Side(*numbers[7:14])


def times(report, side, **members):
    rows = [row for row in report["rows"] if all(row[name] == value for name, value in members.items())]
    return sum(row[f"{side}_time"] for row in rows)


def check_side(report, side, said):
    """All of the calls' time is in the rows, and each thread's share of it is its own."""
    if not said.calls:
        return
    calls, = {row[f"{side}_calls"] for row in report["rows"]}
    assert calls == said.calls, (side, said)
    assert said.inner <= times(report, side) <= said.outer, (side, said)
    own = times(report, side, thread="own", cause="on CPU")
    within(said.own * (1 - CLOCKS) <= own <= said.outer, side, own, said)
    # The helper works while the others wait for it, all but its first and last instructions.
    helper = times(report, side, thread="other", comm="helper", cause="on CPU")
    within(said.helper * (1 - CLOCKS) - 100_000 * said.calls <= helper <= said.outer - said.naps, side, helper, said)
    assert times(report, side, comm="helper", cause="timer") <= said.naps, (side, said)


@pytest.mark.everywhere
@pytest.mark.parametrize("of", OF.values(), ids=OF.keys())
def test_leads_to_who_was_waited_for(tool, trigger, of):
    """
    Slow calls wait for a thread that waits for another one, which naps: the nap is what makes them slow, and the waits
    for the two threads are not rows.
    """

    def trial():
        report, slow, rest = relay(tool, trigger, "--above", "20ms", of=of)
        assert report["events"] == slow.calls + rest.calls == scaled(60)
        assert not any(flaws(report).values()), flaws(report)
        check_side(report, "slow", slow)
        check_side(report, "rest", rest)
        naps, = (row for row in report["rows"] if row["cause"] == "timer")
        assert (naps["thread"], naps["comm"], naps["waker"]) == ("other", "helper", "[interrupt]"), naps
        assert naps["slow_with"] == scaled(60) // 5 and not naps["rest_with"], naps
        # The timer begins before the thread leaves its CPU, which another one may delay.
        within(naps["slow_time"] >= 0.95 * naps["slow_with"] * 40_000_000, naps)
        if slow.calls == naps["slow_with"]:
            assert naps is max(report["rows"], key=lambda row: row["difference_percent"]), report["rows"]
        assert not {"futex", "pipe", "unknown"} & {row["cause"] for row in report["rows"]}, report["rows"]
        assert {row["thread"] for row in report["rows"] if row["comm"] in ("worker", "helper")} == {"other"}

    steady(trial)


@pytest.mark.everywhere
def test_the_slowest_tenth(tool, trigger):
    """Without a limit, exactly a tenth of the calls are slow: no two take the same time."""

    def trial():
        report, _, _ = relay(tool, trigger, calls=50)
        for row in report["rows"]:
            assert row["slow_calls"] == 5 and row["rest_calls"] == 45, row
        naps, = (row for row in report["rows"] if row["cause"] == "timer")
        # On a busy machine a call may be slow because it waited for its CPU.
        within(naps["slow_with"] == 5, naps)

    steady(trial)


def test_threads_outside(tool, trigger):
    """With -t of the caller, its waits are ended from outside the scope: they are rows, with the waker."""

    def trial():
        report, slow, _ = relay(tool, trigger, "--above", "20ms", threads=lambda load: ("-t", load.pid))
        waits = [row for row in report["rows"] if row["cause"] == "futex"]
        assert {(row["thread"], row["waker"]) for row in waits} == {("own", "worker")}, report["rows"]
        assert {row["thread"] for row in report["rows"]} == {"own"}, report["rows"]
        within(sum(row["slow_time"] for row in waits) >= slow.naps, waits, slow)

    steady(trial)


def test_links_are_of_one_path(run):
    result = run(*OF["call"], "--critical-path", "--each", tool="why")
    assert result.code == 2 and "cannot be combined with --slow or --from" in result.stderr, result


@pytest.mark.parametrize("name, numbers, is_told", (("relay", (20, 40), True), ("slowly", (20, 1, 40), False)))
def test_a_note_leads_here(tool, trigger, name, numbers, is_told):
    """Where slow calls mostly wait for other threads, and not where they nap themselves."""

    def trial():
        load = trigger(name, *numbers)
        tracer = tool("-x", binary(name), "--slow", "handle", "--above", "20ms", "-p", load.pid, tool="why")
        load.go()
        load.done()
        result = tracer.stop()
        assert result.code == 0, result
        if "missed:" in result.text:
            raise Blurred
        assert ("--critical-path shows what those threads did" in result.text) == is_told, result.text

    steady(trial)
