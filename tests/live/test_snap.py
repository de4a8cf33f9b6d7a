# SPDX-License-Identifier: BSD-2-Clause
"""snap against /proc, which has the same data for one thread at a time."""

import functools
import os
import platform
import re
import time
from pathlib import Path

import pytest

import cgroups
import tally

# The trigger prints these in this order. System call numbers on x86 and arm64.
CALLS = {
    "read": (0, 63),
    "futex": (202, 98),
    "epoll_pwait": (281, 22),
    "clock_nanosleep": (230, 115),
    "ppoll": (271, 73),
    "wait4": (61, 260),
    "accept": (43, 202),
    "flock": (73, 32),
}
# A 32-bit call, where there are any; else pause.
NAP_32 = "nanosleep:32"
SLEEPERS = (*CALLS, NAP_32)
PLACES = (*SLEEPERS, "spin", "stopped", "zombie")
ON_ARM = platform.machine() == "aarch64"


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


@functools.cache
def addresses():
    """{name: addresses of the functions with this name}: code shared by two functions has either name."""
    found = {}
    for line in Path("/proc/kallsyms").read_text().splitlines():
        address, _, name = line.split()[:3]
        found.setdefault(name, set()).add(address)
    return found


def is_same(name, other):
    return name == other or addresses()[name] & addresses()[other]


class Standing:
    """The trigger at rest: the tid of each place, and when the thread went there and was seen there."""

    def __init__(self, load):
        self.load = load
        self.tid = dict(zip(PLACES, load.numbers[::2]))
        self.before = dict(zip(PLACES, load.numbers[1::2]))
        for place, state in (("spin", "R"), ("stopped", "T"), ("zombie", "Z")):
            tally.wait_until(lambda: tally.state(self.tid[place]) == state, place)
        self.seen = now()
        self.pids = [load.pid, *(self.tid[place] for place in ("spin", "stopped", "zombie"))]
        self.scope = "-p", ",".join(map(str, self.pids))

    def proc(self, place):
        tid = self.tid[place]
        return Path(f"/proc/{self.load.pid if place in SLEEPERS else tid}/task/{tid}")


@pytest.fixture
def standing(trigger):
    return Standing(trigger("standing"))


@pytest.fixture
def snap(run):
    def look(*args):
        result = run("--json", *args, tool="snap")
        assert result.code == 0, result
        return result.report

    return look


def link(pid, fd):
    return os.readlink(f"/proc/{pid}/fd/{fd}")


def arguments(place, pid, a):
    """Arguments in trace's format, from the numbers of /proc/PID/syscall."""
    null = {n: f"{n:#x}" if n else "NULL" for n in a}
    with_file = f"{a[0]}<{link(pid, a[0])}>" if place in ("read", "epoll_pwait") else None
    return {
        "read": f"{with_file}, {a[1]:#x}, {a[2]}",
        "futex": f"{a[0]:#x}, FUTEX_WAIT, 0, NULL",
        "epoll_pwait": f"{with_file}, {a[1]:#x}, 1, -1, NULL, 8",
        "clock_nanosleep": f"CLOCK_MONOTONIC, 0, {a[2]:#x}, NULL",
        "ppoll": f"{a[0]:#x}, 2, NULL, NULL, 8",
        "wait4": f"{a[0]}, {null[a[1]]}, 0, NULL",
    }.get(place)


def check_call(standing, place, row):
    said = (standing.proc(place) / "syscall").read_text().split()
    number, args = int(said[0]), [int(n, 16) for n in said[1:7]]
    pid = standing.load.pid
    assert (row["call"], number) == (place, CALLS[place][ON_ARM]), (row, said)
    expected = arguments(place, pid, args)
    assert expected is None or row["args"] == expected, (row, said)
    target = link(pid, args[0]) if place in ("read", "epoll_pwait", "accept", "flock") else None
    if place == "accept":
        inode = re.search(r"\d+", target)[0]
        assert re.fullmatch(rf'UNIX-STREAM:\[{inode},@"\w+"\]', row["object"]), (row, target)
        assert row["args"] == f"{args[0]}<{row['object']}>, NULL, NULL"
    elif place == "flock":
        assert row["object"] == target and target.endswith(" (deleted)"), (row, target)
        assert row["args"] == f"{args[0]}<{target[:-10]}>(deleted), LOCK_EX"
    else:
        assert row["object"] == (target or {"futex": f"{args[0]:#x}", "wait4": f"pid {args[0]}"}.get(place))


def check_32_bit_call(standing, row):
    """Its arguments are not decoded: six numbers of 32 bits."""
    number, *said = (standing.proc(NAP_32) / "syscall").read_text().split()
    args = [int(n, 16) % 2 ** 32 for n in said[:6]]
    assert (row["call"], int(number)) == (NAP_32, 162), row
    assert row["args"] == ", ".join(f"{n:#x}" if n else "0" for n in args) and row["object"] is None, (row, args)


def check_channel(standing, place, row):
    """The innermost frame outside of the scheduler. Old kernels have no wchan if their code has no frame pointers."""
    stack = (standing.proc(place) / "stack").read_text().splitlines()
    assert is_same(row["wchan"], re.match(r"\[<0>\] ([^+]+)\+", stack[0])[1]), (row, stack)
    channel = (standing.proc(place) / "wchan").read_text()
    assert channel == "0" or is_same(row["wchan"], channel), (row, channel)


def check_time(standing, place, row, began, ended):
    """The true time lies between the trigger's clock before and ours after; the tool's may be too long by at most its
    doubt."""
    least, most = began - standing.seen, ended - standing.before[place]
    assert least <= row["time"] and row["time"] - row["doubt"] <= most, (place, row, least, most)
    assert row["doubt"] <= row["time"], row


@pytest.mark.everywhere
def test_each_thread(standing, snap):
    began = now()
    report = snap("--each", *standing.scope)
    ended = now()
    rows = {row["tid"]: row for row in report["rows"]}
    assert set(rows) == {tid for pid in standing.pids for tid in tally.threads(pid)}, report
    for place in PLACES:
        row = rows[standing.tid[place]]
        assert row["state"] == tally.state(standing.proc(place).parts[2], standing.tid[place]), (place, row)
        assert row["comm"] == "standing"
        if place in CALLS:
            check_call(standing, place, row)
        if place == NAP_32 and tally.makes_32_bit_calls():
            check_32_bit_call(standing, row)
        if place in SLEEPERS or place == "stopped":
            check_channel(standing, place, row)
        if place != "spin":
            check_time(standing, place, row, began, ended)
    assert rows[standing.tid["spin"]]["call"] in ("[running]", "[user mode]")
    assert rows[standing.tid["zombie"]]["call"] == "[ended]"


def test_the_odd_ones_come_first(standing, snap):
    """Each group occurs once, with all of its threads; stopped and ended threads come before waiting ones. The
    computing thread may come first, if others keep it from its CPU."""
    report = snap(*standing.scope)
    rows = report["rows"]
    assert [row["state"] for row in rows if row["state"] != "R"][:2] == ["T", "Z"], rows
    assert sum(row["threads"] for row in rows) == report["events"] == len(SLEEPERS) + 4, report
    assert {row["call"] for row in rows} >= set(CALLS)
    assert len({(row["state"], row["call"], row["object"], row["wchan"]) for row in rows}) == len(rows)


def test_idle_threads_of_the_kernel_come_last(standing, snap):
    """A small machine has more idle kernel threads than anything else, and nobody looks for them."""
    rows = [row for row in snap()["rows"] if row["state"] in "SI"]
    idle = [row["call"] == "[kernel]" for row in rows]
    assert any(idle) and not all(idle), rows
    assert idle == sorted(idle), rows


@pytest.mark.parametrize("key", ("pid", "tid", "comm", "uid", "cpu", "cgroup", "container", "unit", "pidns", "state",
                                 "call", "object", "wchan", "state,pid"))
def test_every_key_has_all_threads(standing, snap, key):
    report = snap("--by", key, *standing.scope)
    assert sum(row["threads"] for row in report["rows"]) == len(SLEEPERS) + 4, report
    if key == "state":
        states = {row["state"]: row["threads"] for row in report["rows"]}
        assert states == {"S": len(SLEEPERS) + 1, "R": 1, "T": 1, "Z": 1}, report


def test_cpus_are_those_of_the_threads(trigger, snap):
    """Not the CPU that the picture is taken on."""
    cpus = os.sched_getaffinity(0)
    loads = {cpu: trigger("sleepers", 5, 1, 1000, cpu) for cpu in {min(cpus), max(cpus)}}
    for load in loads.values():
        load.go()
        load.done()
        load.settle()
    pids = ",".join(str(load.pid) for load in loads.values())
    for cpu, load in loads.items():
        report = snap("--by", "pid", "-C", cpu, "-p", pids)
        assert {row["pid"]: row["threads"] for row in report["rows"]} == {load.pid: 6}, report


def test_scope_of_a_cgroup(trigger, cgroup, snap):
    group = cgroup(cgroups.default_hierarchy(), "snap")
    loads = [trigger("sleepers", n, 1, 1000, -1) for n in (3, 8)]
    for load in loads:
        group.add(load.pid)
    report = snap("-G", group.name, "--each")
    assert sorted(row["tid"] for row in report["rows"]) == sorted(tid for load in loads for tid in load.tids())


def test_two_thousand_threads(trigger, snap):
    """More than the kernel returns at once."""
    load = trigger("sleepers", 2000, 1, 1000, -1)
    report = snap("-p", load.pid, "--each")
    assert sorted(row["tid"] for row in report["rows"]) == load.tids()
    report = snap("-p", load.pid)
    assert sorted(row["threads"] for row in report["rows"])[-1] == 2000, report


def test_hostile_names(trigger, run, snap):
    load = trigger("sleepers", 1, 1, 1000, -1, comm=b"\x1b[2J\n<b>\"")
    for form in (), ("--each",):
        text = run("-p", load.pid, *form, tool="snap").text
        assert "\x1b" not in text and "\\x1b[2J\\x0a<b>" in text, text
    assert {row["comm"] for row in snap("-p", load.pid)["rows"]} == {"\\x1b[2J\\x0a<b>\""}


def test_threads_come_and_go(standing, trigger, snap):
    """Threads that stay are in each picture."""
    stay = {standing.tid[place] for place in PLACES}
    load = trigger("mayflies", 1000, 0, 0)
    load.go()
    for _ in range(5):
        rows = snap("--each", "-a")["rows"]
        tids = [row["tid"] for row in rows]
        assert stay <= set(tids) and len(set(tids)) == len(tids), rows
    load.done()


def test_intervals(standing, run):
    """Each report is a picture of its own, of all threads."""
    result = run("--json", "-I", "50", "--reports", "3", "--by", "state", *standing.scope, tool="snap")
    assert result.code == 0, result
    assert [sum(row["threads"] for row in report["rows"]) for report in result.reports] == [len(SLEEPERS) + 4] * 3


@pytest.mark.parametrize("order", ("odd", "threads", "longest", "key"))
def test_order(standing, snap, order):
    rows = snap("--sort", order, "--by", "state", *standing.scope)["rows"]
    column = {"threads": "threads", "longest": "longest"}.get(order)
    if column:
        assert [row[column] for row in rows] == sorted((row[column] for row in rows), reverse=True)
    elif order == "key":
        assert [row["state"] for row in rows] == sorted(row["state"] for row in rows)
    else:
        assert [row["state"] for row in rows if row["state"] != "R"] == ["T", "Z", "S"]


@pytest.mark.everywhere
def test_stacks(standing, snap):
    """The frames of /proc, for every thread that is not on a CPU and has not ended."""
    report = snap("-g", "-K", "--by", "tid", *standing.scope)
    stacks = {stack["key"]["tid"]: stack for stack in report["stacks"]}
    for place in (*SLEEPERS, "stopped"):
        said = (standing.proc(place) / "stack").read_text().splitlines()
        stack = stacks.pop(standing.tid[place])
        assert stack["value"] == 1
        names = [frame["name"] for frame in reversed(stack["frames"])]
        others = [re.match(r"\[<0>\] ([^+]+)\+", line)[1] for line in said]
        assert len(names) == len(others) and all(map(is_same, names, others)), (stack, said)
    assert set(stacks) - {standing.tid["spin"]} == {standing.load.pid}


def test_stacks_of_groups(standing, snap, run):
    """Threads of a state share equal stacks; the note says how many have no stack."""
    report = snap("-g", "--by", "state", *standing.scope)
    of = {}
    for stack in report["stacks"]:
        of[stack["key"]["state"]] = of.get(stack["key"]["state"], 0) + stack["value"]
    assert of.pop("R", 1) == 1 and of == {"S": len(SLEEPERS) + 1, "T": 1}, report
    text = run("-g", *standing.scope, tool="snap").text
    assert re.search(r"\b[12] more on a CPU or exited: no stack", text), text
    folded = run("-g", "--format", "folded", *standing.scope, tool="snap").text
    assert sum(int(line.split()[-1]) for line in folded.splitlines()) in (len(SLEEPERS) + 2, len(SLEEPERS) + 3), folded


def test_the_heading_says_how_many_were_read(run, standing, directory):
    """The time in the heading is that of the pass, which is part of the run."""
    began = time.monotonic()
    text = run(*standing.scope, tool="snap").text
    took = time.monotonic() - began
    n, time_of_it, unit = re.match(r"snap: (\d+) threads, read in (\S+) (ns|us|ms|s),", text).groups()
    assert int(n) == len(SLEEPERS) + 4, text
    assert 0 < float(time_of_it) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit] < took, text
    assert run("-t", standing.tid["read"], tool="snap").text.startswith("snap: 1 thread, read in "), text
    flame = run(*standing.scope, "-g", "--format", "flame", tool="snap").text
    assert re.search(r" threads, read in \S+ [num]?s, lost 0", flame), flame[:2000]


def test_what_does_not_fit(run):
    for args, words in ((("--each", "--by", "pid"), "--each"), (("--each", "--sort", "threads"), "one thread"),
                        (("--each", "-g"), "--each and -g cannot be combined"), (("-g", "--live"), "--live"),
                        (("--format", "folded"), "-g")):
        result = run(*args, tool="snap")
        assert result.code == 2 and words in result.stderr, result
