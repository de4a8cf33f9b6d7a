# SPDX-License-Identifier: BSD-2-Clause
"""lockstat compared with a program whose threads wait for locks of the kernel a known number of times, and with
the kernel's own trace of the same waits."""

import re

import pytest

import tally
from snooping import PREEMPTIBLE, exact
from tally import flaws, within
from tracefs import Instance

ROUNDS, US = 8, 2000
# The function that takes the lock, and the type. tmpfs has its own function since 6.6.
HOW = {"mutex": ("mutex", ("pipe_write", "anon_pipe_write")),
       "rwsem": ("rwsem:W", ("shmem_file_write_iter", "generic_file_write_iter"))}

TOO_OLD = tally.KERNEL < (5, 19)        # without lock:contention_begin


@pytest.fixture
def lockstat(tool):
    if TOO_OLD:
        pytest.skip("lock:contention_begin came with 5.19")

    def start(*args, **kwargs):
        return tool("--json", *args, tool="lockstat", **kwargs)

    return start


def rows(report, **wanted):
    return [row for row in report["rows"] if all(row[name] == value for name, value in wanted.items())]


def function(caller):
    """The function's name, without the offset."""
    return caller.split("+")[0].split(".")[0]


def whole(report):
    """Nothing was lost, except what exact() handles."""
    lost = {reason for reason, n in flaws(report).items() if n}
    if PREEMPTIBLE and lost <= {"recursion", "unmatched"} and lost:
        raise tally.Blurred
    assert not lost, report
    return report


@pytest.mark.parametrize("how", HOW)
@exact
def test_waits(lockstat, trigger, how):
    """Each wait counts once, however often it begins, with its time, its caller and the holder of the lock."""
    load = trigger("locked", how, ROUNDS, US, 0)
    holder, waiter = load.numbers
    tool = lockstat("-p", load.pid, "--by", "tid,type,caller,lock,owner,result")
    load.go()
    in_call, waited = load.done()
    report = whole(tool.stop().report)
    name, callers = HOW[how]
    [row] = rows(report, type=name, tid=waiter)
    assert row["count"] == ROUNDS, report
    assert waited <= row["total"] <= in_call, (row, waited, in_call)
    assert function(row["caller"]) in callers
    assert (row["owner"], row["owner_comm"]) == (holder, "locked")
    assert row["result"] == "acquired"
    assert sum(r["count"] for r in report["rows"]) == report["events"]


@exact
def test_waiting_still(lockstat, trigger):
    """A wait that has not ended is in the last report, marked; by key, and by stack."""
    tools = {}
    load = trigger("locked", "mutex", 1, US, 1)
    waiter = load.numbers[1]
    for name, args in (("caller", ("--by", "type,caller")), ("task", ("--by", "tid")),
                       ("result", ("--by", "tid,type,result")), ("stack", ("-g", "-K", "--by", "tid"))):
        tools[name] = lockstat("-p", load.pid, *args)
    load.go()
    waited = load.done()[1]
    reports = {name: whole(tool.stop().report) for name, tool in tools.items()}
    marked = [row for row in reports["caller"]["rows"] if row["type"] == "mutex [still waiting]"]
    marked += rows(reports["task"], result="waiting")
    marked += rows(reports["result"], result="waiting", type="mutex", tid=waiter)
    assert len(marked) == 3, reports
    assert function(marked[0]["caller"]) in HOW["mutex"][1], marked
    assert all(row["count"] == 1 and row["total"] >= waited for row in marked), (marked, waited)
    [stack] = [stack for stack in reports["stack"]["stacks"] if stack["key"]["event"] == "mutex [still waiting]"]
    assert stack["key"]["tid"] == waiter and stack["value"] >= waited
    assert function(stack["frames"][-1]["name"]) in HOW["mutex"][1], stack


@exact
def test_stacks(lockstat, trigger):
    """The time of the waits, below the program's call that made them."""
    load = trigger("locked", "rwsem", ROUNDS, US, 0)
    tool = lockstat("-p", load.pid, "-g", "--by", "tid")
    load.go()
    in_call, waited = load.done()
    report = whole(tool.stop().report)
    stacks = [stack for stack in report["stacks"]
              if stack["key"]["event"] == "rwsem:W" and stack["key"]["tid"] == load.numbers[1]]
    assert waited <= sum(stack["value"] for stack in stacks) <= in_call, report
    for stack in stacks:
        names = [frame["name"] and function(frame["name"]) for frame in stack["frames"]]
        assert set(names) & set(HOW["rwsem"][1]) and any("write_slowpath" in n for n in names if n), names
    assert report["events"] >= ROUNDS


@exact
def test_min(lockstat, trigger):
    """Shorter waits are filtered; the others are not affected."""
    load = trigger("locked", "mutex", ROUNDS, 20000, 0)
    every = lockstat("-p", load.pid, "--by", "tid,type")
    long = lockstat("-p", load.pid, "--by", "tid,type", "--min", "20ms", "--hist")
    none = lockstat("-p", load.pid, "--by", "tid,type", "--min", "10m")
    load.go()
    load.done()
    every, long, none = (whole(tool.stop().report) for tool in (every, long, none))
    [group] = long["groups"]
    assert group["key"]["type"] == "mutex" and group["count"] == ROUNDS and group["min"] >= 20_000_000
    [row] = rows(every, type="mutex", tid=load.numbers[1])
    assert long["events"] == ROUNDS and none["events"] == 0 and not none["rows"]
    # Two programs read the clock at one event, one after the other.
    within(abs(row["total"] - group["sum"]) <= ROUNDS * 200_000, row["total"], group["sum"])


# The options, and the waits that they select, by type and lock.
CHOICES = {
    ("--type", "mutex"): lambda kind, lock: kind == "mutex",
    ("--type", "rwsem:*,spinlock"): lambda kind, lock: kind in ("rwsem:R", "rwsem:W", "spinlock"),
    ("--lock", "mmap_lock,siglock"): lambda kind, lock: lock.startswith(("mmap_lock@", "siglock@")),
    ("--lock", "rq_*", "--type", "spinlock"): lambda kind, lock: lock.startswith("rq_lock@") and kind == "spinlock",
    ("--lock", "ffffffff00000001"): lambda kind, lock: lock == "ffffffff00000001",
}


@exact
def test_chosen_locks(lockstat, trigger):
    """Waits for locks of the selected types and names count, in tables and by stack; the others are filtered."""
    load = trigger("locked", "mutex", ROUNDS, US, 0)
    every = lockstat("-p", load.pid, "--by", "type,lock")
    tools = {options: lockstat("-p", load.pid, "--by", "type,lock", *options) for options in CHOICES}
    stacks = lockstat("-p", load.pid, "-g", "-K", "--type", "mutex")
    load.go()
    load.done()
    load.settle()
    every = whole(every.stop().report)["rows"]
    assert sum(row["count"] for row in every if row["type"] == "mutex") >= ROUNDS
    for options, tool in tools.items():
        report = whole(tool.stop().report)
        expected = {(row["type"], row["lock"]): row["count"] for row in every
                    if CHOICES[options](row["type"], row["lock"])}
        assert {(row["type"], row["lock"]): row["count"] for row in report["rows"]} == expected, (options, every)
        assert report["events"] == sum(expected.values())
    found = {stack["key"]["event"] for stack in whole(stacks.stop().report)["stacks"]}
    assert found == {"mutex"}


def test_locks_by_name(run):
    """Variables of the kernel that hold a lock, if kallsyms has them."""
    if TOO_OLD:
        pytest.skip("lock:contention_begin came with 5.19")
    with open("/proc/kallsyms", encoding="ascii") as file:
        shown = any(line.endswith(" uts_sem\n") for line in file)
    result = run("-n", "--lock", "uts_sem", tool="lockstat")
    assert (result.code == 0) == shown, result
    assert shown or result.code in (2, 4) and "--by lock" in result.stderr, result


class Trace(Instance):
    """The kernel's own trace of one process's waits, in an instance of tracefs."""

    def __init__(self, tids):
        super().__init__()
        self.tids = set(tids)
        (self.path / "set_event_pid").write_text(" ".join(map(str, tids)))
        self.enable("lock")

    def ends(self):
        """The number of waits that have ended, without those for the instance's own locks. set_event_pid also passes
        waits of the next or the previous task, at the locks of the scheduler."""
        tids = re.findall(r"-(\d+) +\[\d+\] .* contention_end: ", self.stop())
        return sum(int(tid) in self.tids for tid in tids)


@pytest.mark.parametrize("how", HOW)
@exact
def test_trace(lockstat, trigger, ends, how):
    """All waits of the process, for any lock, are those in the kernel's trace."""
    load = trigger("locked", how, ROUNDS, US, 0)
    trace = Trace(load.tids())
    ends.callback(trace.close)
    tool = lockstat("-p", load.pid)
    load.go()
    load.done()
    load.settle()
    report = whole(tool.stop().report)
    assert sum(row["count"] for row in report["rows"]) == trace.ends(), report


def test_wrong(run):
    for args, text in ((("-K",), "-g"), (("--by", "nothing"), "unknown key 'nothing'; expected one of"),
                       (("-g", "--hist"), "-g cannot be combined with --hist, --table or --sort"),
                       (("--min", "x"), "is not a time"),
                       (("--type", "mutx"), "did you mean mutex?")):
        result = run(*args, "-d", 1, tool="lockstat")
        assert result.code == 2 and text in result.stderr, result


@pytest.mark.skipif(not TOO_OLD, reason="this kernel has lock:contention_begin")
def test_unable(run):
    result = run("-d", 1, tool="lockstat")
    assert result.code == 4 and "5.19" in result.stderr, result
