# SPDX-License-Identifier: BSD-2-Clause
"""futexstat compared with a program that counts and times its own calls."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import tally
from snooping import PREEMPTIBLE, await_call, exact

N, US = 20, 2000
RESULTS = "woken", "timed out", "value changed", "signal"
FUTEX, RESTART = 202, 219


@pytest.fixture
def futexstat(tool):
    def start(*args, **kwargs):
        return tool("--json", *args, tool="futexstat", **kwargs)

    return start


def skipped(report):
    """Nothing was lost, unless the kernel skipped programs (snooping.PREEMPTIBLE) and the tool reported it."""
    lost = {reason for reason, n in tally.flaws(report).items() if n}
    assert not lost or PREEMPTIBLE and lost == {"recursion"}, report
    return bool(lost)


def whole(report):
    """Nothing was lost, except what exact() handles."""
    if skipped(report):
        raise tally.Blurred
    return report


def rows(report, **wanted):
    return [row for row in report["rows"] if all(row[name] == value for name, value in wanted.items())]


def raw(report, waiter, by_op=True):
    """Rows of the calls that the program makes and counts itself: {result: row}."""
    found = {}
    for row in rows(report, op="wait", tid=waiter, owner=None):
        assert row["result"] not in found, report
        found[row["result"]] = row
    return found


@exact
def test_results(futexstat, trigger):
    """The number of each result, and the time of these waits, at most by the program's own clock."""
    load = trigger("futexes", N, US)
    [waiter] = load.numbers
    tool = futexstat("-p", load.pid, "--by", "tid,futex,op,result,owner")
    load.go()
    told = load.done()
    report = whole(tool.stop().report)
    counts, spent = dict(zip(RESULTS, told[:4])), dict(zip(RESULTS, told[4:8]))
    found = raw(report, waiter)
    assert {result: row["count"] for result, row in found.items()} == counts, (report, counts)
    assert all(row["total"] <= spent[result] for result, row in found.items()), (found, spent)
    assert found["timed out"]["total"] >= N * US * 1000
    assert len({row["futex"] for row in found.values()}) == 1, found
    # A glibc mutex and a PI futex have a known owner: the main thread.
    [mutex] = rows(report, op="wait", tid=waiter, owner=load.pid)
    [pi] = rows(report, op="lock_pi", tid=waiter, owner=load.pid)
    assert mutex["count"] == pi["count"] == 1 and mutex["result"] == pi["result"] == "woken", report
    assert report["events"] == sum(row["count"] for row in report["rows"])


@pytest.mark.everywhere
@exact
def test_waits(futexstat, trigger):
    """--waits has the calls in which the thread slept, by context switches: all but those that found another value."""
    load = trigger("futexes", N, US)
    [waiter] = load.numbers
    args = "-p", load.pid, "--by", "tid,futex,op,result,owner"
    tools = futexstat(*args), futexstat(*args, "--waits")
    load.go()
    told = load.done()
    calls, waits = (whole(tool.stop().report) for tool in tools)
    known, found = raw(calls, waiter), raw(waits, waiter)
    counts = dict(zip(RESULTS, told[:4]))
    del counts["value changed"]
    # A thread that was held up on its way to sleep may have been woken before it slept.
    tally.within({result: row["count"] for result, row in found.items()} == counts, waits, counts)
    assert all(row["total"] <= known[result]["total"] for result, row in found.items()), (found, known)
    assert {row["futex"] for row in found.values()} == {row["futex"] for row in known.values()}
    [mutex] = rows(waits, op="wait", tid=waiter, owner=load.pid)
    [pi] = rows(waits, op="lock_pi", tid=waiter, owner=load.pid)
    assert mutex["count"] == pi["count"] == 1 and mutex["result"] == pi["result"] == "woken", waits
    assert waits["events"] == sum(row["count"] for row in waits["rows"])
    assert "begun_before" not in waits, waits


@exact
def test_waits_of_glibc(futexstat, trigger):
    """A condition variable that is signalled, one that times out, and the end of a thread."""
    load = trigger("futexes", "glibc", N, US)
    tool = futexstat("-p", load.pid, "--by", "tid,result", "--waits")
    load.go()
    [waiter] = load.done()
    report = whole(tool.stop().report)
    found = {(row["tid"], row["result"]): row["count"] for row in report["rows"]}
    tally.within(found == {(waiter, "timed out"): N, (waiter, "woken"): N, (load.pid, "woken"): 1}, report)


@exact
def test_long_waits(futexstat, trigger):
    """--min with --waits: shorter waits are filtered."""
    load = trigger("futexes", N, US)
    [waiter] = load.numbers
    args = "-p", load.pid, "--waits", "--by", "tid,result", "--min"
    tools = futexstat(*args, f"{US // 2}us"), futexstat(*args, "1000s")
    load.go()
    load.done()
    some, none = (whole(tool.stop().report) for tool in tools)
    assert not none["events"] and not none["rows"] and none["filtered"] >= some["events"], (some, none)
    [late] = rows(some, tid=waiter, result="timed out")
    # Before a sleep has begun, some of its time is over.
    tally.within(late["count"] == N and late["avg"] >= US * 500, late)


@exact
def test_slept_before(futexstat, trigger):
    """A sleep that began before the programs were attached is counted as such, once, and is in no row."""
    load, waiter = long_wait(trigger, 60_000_000)
    load.go()
    await_call(waiter, FUTEX)
    tool = futexstat("-p", load.pid, "--waits")
    os.kill(load.pid, signal.SIGSTOP)
    tally.wait_until(lambda: tally.state(load.pid, waiter) == "T", "stopped")
    os.kill(load.pid, signal.SIGCONT)
    await_call(waiter, RESTART)
    report = whole(tool.stop().report)
    assert report["begun_before"] == 1 and not report["rows"], report


@exact
def test_wakes(futexstat, trigger):
    """Each call to wake, and the number of threads that it woke, by caller."""
    load = trigger("futexes", N, US)
    tool = futexstat("-p", load.pid, "--wakes", "--by", "tid,futex,op")
    waits = futexstat("-p", load.pid, "--by", "futex,result,owner")
    load.go()
    tries, woken = load.done()[8:]
    report = whole(tool.stop().report)
    [futex] = {row["futex"] for row in waits.stop().report["rows"] if row["result"] == "timed out"}
    [row] = rows(report, futex=futex)
    assert (row["count"], row["total"], row["max"]) == (tries, woken, 1), (report, tries, woken)
    assert row["tid"] == load.pid and row["op"] == "wake"


@pytest.mark.parametrize("waits", ((), ("--waits",)), ids=("calls", "waits"))
def test_stacks(futexstat, trigger, waits):
    """Time by result and by the stack of the waiter. Where programs can be preempted, walks take so long that some
    are nearly always skipped: then there is less, never more."""
    load = trigger("futexes", N, US)
    tool = futexstat("-p", load.pid, "-g", *waits)
    table = futexstat("-p", load.pid, "--by", "result", *waits)
    load.go()
    told = load.done()
    results = set(RESULTS) - ({"value changed"} if waits else set())
    report, other = tool.stop().report, table.stop().report
    spent = sum(s["value"] for s in report["stacks"] if s["key"]["event"] == "timed out")
    assert 0 < spent <= told[5], (report, told)
    assert {s["key"]["event"] for s in report["stacks"]} <= results, report
    if skipped(report) | skipped(other):
        return
    assert report["events"] == other["events"], (report, other)
    # Before a sleep of US has begun, some of it is over.
    assert spent >= N * US * (500 if waits else 1000), (report, told)
    assert {s["key"]["event"] for s in report["stacks"]} == results, report


def long_wait(trigger, us):
    load = trigger("futexes", "long", us)
    return load, load.numbers[0]


@exact
@pytest.mark.parametrize("waits", ((), ("--waits",)), ids=("calls", "waits"))
def test_stopped(futexstat, trigger, waits):
    """A wait with a timeout that is stopped and continued goes on as restart_syscall(): it is in both parts."""
    load, waiter = long_wait(trigger, 1_500_000)
    tool = futexstat("-p", load.pid, "--by", "tid,futex,op,result", *waits)
    load.go()
    asked = time.monotonic_ns()
    await_call(waiter, FUTEX)
    os.kill(load.pid, signal.SIGSTOP)
    tally.wait_until(lambda: tally.state(load.pid, waiter) == "T", "stopped")
    if time.monotonic_ns() - asked > 1_500_000_000:
        raise tally.Blurred     # this machine stood still for the length of the wait, which may have ended before
    os.kill(load.pid, signal.SIGCONT)
    load.done()
    report = whole(tool.stop().report)
    results = {row["result"]: row for row in rows(report, op="wait", tid=waiter)}
    assert set(results) == {"signal", "timed out"} and len(report["rows"]) == 2, report
    assert len({row["futex"] for row in report["rows"]}) == 1


@exact
@pytest.mark.parametrize("waits", ((), ("--waits",)), ids=("calls", "waits"))
def test_waiting_still(futexstat, trigger, waits):
    """Waits that have not ended are in the last report, marked: by key and by stack."""
    load, waiter = long_wait(trigger, 60_000_000)
    args = {"result": (), "futex": ("--by", "futex,tid"), "task": ("--by", "tid"), "stack": ("-g", "--by", "tid")}
    tools = {name: futexstat("-p", load.pid, *more, *waits) for name, more in args.items()}
    before = time.monotonic_ns()
    load.go()
    await_call(waiter, FUTEX)
    began = time.monotonic_ns()
    time.sleep(0.1)
    reports = {}
    for name, tool in tools.items():
        least = time.monotonic_ns() - began
        reports[name] = tool.stop().report
        if skipped(reports[name]) and not reports[name]["events"]:
            raise tally.Blurred
        values = [row["total"] for row in reports[name].get("rows", [])] or \
                 [stack["value"] for stack in reports[name]["stacks"]]
        assert len(values) == 1 and least <= values[0] <= time.monotonic_ns() - before, (reports[name], least)
    assert reports["result"]["rows"][0]["result"] == reports["task"]["rows"][0]["result"] == "still waiting"
    assert reports["futex"]["rows"][0]["futex"].endswith(" [still waiting]")
    assert reports["stack"]["stacks"][0]["key"]["event"] == "still waiting"


# Waits that do not begin, since the value differs: in each of two mappings as often as the arguments say. The process
# stays, since mappings of a process that has ended have no names.
CHANGED = """
import ctypes, mmap, sys
syscall = ctypes.CDLL(None).syscall
words = [ctypes.c_uint.from_buffer(mmap.mmap(-1, 4096)) for _ in sys.argv[1:]]
print(*(hex(ctypes.addressof(word)) for word in words), flush=True)
sys.stdin.readline()
for word, n in zip(words, sys.argv[1:]):
    for _ in range(int(n)):
        syscall(%d, ctypes.byref(word), 0, 1, None)
print("done", flush=True)
sys.stdin.readline()
""" % FUTEX


def changed(futexstat, path, counts, *args):
    """The report on the waits of that program, which is also written to a file, and the addresses of its futexes."""
    with subprocess.Popen([sys.executable, "-c", CHANGED, *map(str, counts)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as load:
        addresses = load.stdout.readline().split()
        tool = futexstat("-p", load.pid, "-o", path, *args)
        load.stdin.write("go\n")
        load.stdin.flush()
        assert load.stdout.readline() == "done\n"
        assert tool.stop().code == 0
        load.stdin.write("end\n")
    return whole(json.loads(path.read_text())), addresses


@exact
@pytest.mark.parametrize("by", ("futex", "futex,op", "pid,futex"))
def test_futexes_of_one_name(futexstat, tmp_path, by):
    """Two mappings of one kind share a name: their futexes are two rows, distinguished by address and process."""
    report, addresses = changed(futexstat, tmp_path / "once.json", (3, 5), "--by", by)
    counts = {row["address"]: row["count"] for row in report["rows"] if row["address"] in addresses}
    assert counts == dict(zip(addresses, (3, 5))), report
    ours = [row for row in report["rows"] if row["address"] in addresses]
    assert len({row["futex"] for row in ours}) == len({row["pid"] for row in ours}) == 1, ours


@exact
@pytest.mark.parametrize("args", ((), ("--hist",)), ids=("rows", "groups"))
def test_runs_with_other_addresses(futexstat, run, tmp_path, args):
    """tally diff matches by name: an address and a pid are another process's in the next run."""
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, counts in zip(paths, ((3, 5), (4, 8))):
        changed(futexstat, path, counts, "--by", "futex", *args)
    result = run("diff", "--json", *paths, tool="tally")
    assert result.code == 0, result
    rows = [row for row in json.loads(result.stdout)["rows"] if "zero+0x0" in row["futex"]]
    assert {(row["before"], row["after"]) for row in rows if row["figure"] == "count"} == {(8, 12)}, rows
    assert all("address" not in row and "pid" not in row for row in rows), rows


def test_wrong(run):
    for args, text in ((("-U",), "-g"), (("--wakes", "-g"), "--wakes"), (("--wakes", "--waits"), "--waits"),
                       (("--by", "lock"), "futex, op, result, owner")):
        result = run(*args, "-d", 1, tool="futexstat")
        assert result.code == 2 and text in result.stderr, result
