# SPDX-License-Identifier: BSD-2-Clause
"""Full maps and lack of memory, and objects left behind when a tool is killed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import disks
import tally
from accounts import check, exactly, tool_by_the_books, work  # noqa: F401
from objects import objects_of
from tally import BUILD, by_key, count, flaws, scaled, total, wait_until


def full_map(tool, trigger, *args):
    """Hundreds of threads, with room for about one key."""
    load = trigger("sleepers", scaled(400), scaled(40), 100, -1)
    tracer = tool("--json", "-p", load.pid, "--by", "tid", "--max-keys", 1, *args)
    w = work(load)
    return tracer.stop(), w


def test_a_full_map_is_counted(tool, trigger):
    """Events that find no room are counted, so that nothing is lost silently."""

    def trial():
        result, w = full_map(tool, trigger)
        report = result.report
        lost, unaccounted = report["lost"].pop("map_full"), report["unaccounted"]
        report["lost"]["map_full"] = 0
        assert result.code == 0 and lost > 0, result
        w.blurred = any(flaws(report).values())
        events = report["events"] + lost
        if not w.blurred:
            assert events - unaccounted <= total(w.grown).count <= events + w.holes
        assert report["events"] == count(report["groups"])
        return w

    exactly(trial)


# Threads that do a little of everything, all of which have ended before the last line.
BUSY = """
import mmap, os, socket, sys, threading, time
path, tool = sys.argv[1:]
turn = threading.Lock()
def connect():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as accepted:
            client.sendall(b"x")
            accepted.recv(1)
def work():
    if tool == "tcptop":        # one by one: since 7.0, programs that are preempted hide calls of others
        with turn:
            for _ in range(5):
                connect()
        return
    for _ in range(5):
        with open(path, "rb") as file:
            file.read(100)
        if tool == "cachestat":
            with open(f"{path}-{threading.get_native_id()}", "wb") as file:
                file.write(bytes(10000))
        memory = mmap.mmap(-1, 1 << 16)
        for at in range(0, 1 << 16, 4096):
            memory[at] = 1
        memory.close()
        try:
            os.stat(path + "-")
        except OSError:
            time.sleep(0.001)
print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work) for _ in range(24)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done", flush=True)
sys.stdin.read()
"""

# Thread ids tell the keys apart. Several tools keep more than one map by key, or more than one figure of an event.
LINES_WITH_KEYS = (
    "runqlat", "schedlat", "schedlat --totals", "cpudist", "cpudist --off", "syscount", "syscount --latency", "fsdist",
    "filetop", "faults", "futexstat", "offcputime", "why", "probe --count syscalls:sys_enter_openat",
    "probe --sum ret syscalls:sys_exit_read", "stackcount syscalls:sys_enter_openat", "cachestat", "tcptop",
)


def pages_besides(report):
    return sum(row["dirtied"] + row["other"] for row in report["rows"])


@pytest.mark.parametrize("line", LINES_WITH_KEYS)
def test_an_event_without_room_is_lost_once(tool, line, ends, directory):
    """
    Two tools see the same events, and one has no room for most of them. It has counted the others, and reports how many
    are missing. why has a phase more for each thread whose time it could not tell.
    """
    name, *args = line.split()
    if name == "cachestat" and subprocess.run([BUILD / name, "-n"], capture_output=True).returncode == 4:
        pytest.skip("this kernel does not report page cache lookups")
    (directory / "file").write_bytes(bytes(1000))
    if name == "cachestat" and disks.run("stat", "-f", "-c", "%T", str(directory)) not in ("ext2/ext3", "xfs", "btrfs"):
        pytest.skip("files here are not on a disk: on tmpfs the page cache is the file itself")

    def trial():
        with subprocess.Popen([sys.executable, "-c", BUSY, directory / "file", name], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as load:
            assert load.stdout.readline() == "ready\n"
            tally.settle(load.pid)
            tracers = [tool("--json", "--by", "tid", "-p", load.pid, *room, *args, tool=name)
                       for room in ((), ("--max-keys", 2))]
            print(file=load.stdin, flush=True)
            assert load.stdout.readline() == "done\n"
            wait_until(lambda: len(tally.threads(load.pid)) == 1, "the end of the threads")
            tally.settle(load.pid)
            every, few = (tracer.stop().report for tracer in tracers)
            load.stdin.close()
        lost = few["lost"].pop("map_full")
        assert lost > 0 and few["events"] < every["events"], few
        left = few["inexact"].pop("incomplete" if name in ("why", "cachestat") else "stacks_full")
        if name == "cachestat":         # pages that no one requested: they are not events, but have columns
            left -= pages_besides(every) - pages_besides(few)
            assert left == 0 < pages_besides(few), (every, few)
        assert left <= few["events"], few
        if any([*every["lost"].values(), *every["inexact"].values(), *few["lost"].values(), *few["inexact"].values()]):
            raise tally.Blurred
        more = few["events"] + lost - every["events"]
        # A thread may leave its CPU for the last time when one of the tools has ended.
        tally.within(0 <= more <= (25 if name == "why" else 0), (every, few))

    tally.steady(trial)


@pytest.mark.parametrize("form", ("text", "csv"))
def test_a_full_map_is_said(tool, trigger, form):
    result, _ = full_map(tool, trigger, "--format", form)
    if form == "text":
        assert re.search(r"lost: [\d,]+ map_full: .*--max-keys", result.text)
    else:
        header, *rows = (line.split(",") for line in result.text.splitlines())
        assert all(int(row[header.index("lost")]) > 0 for row in rows)


def test_strict(tool, trigger):
    """--strict: exit code 3 for any loss, after the report; 0 for none."""
    result, _ = full_map(tool, trigger, "--strict")
    assert result.code == 3 and result.report["lost"]["map_full"], result

    def trial():
        load = trigger("sleepers", 2, scaled(50), 100, -1)
        tracer = tool("--json", "-p", load.pid, "--strict")
        w = work(load)
        result = tracer.stop()
        check(result.report, w)
        assert result.code == (3 if any(flaws(result.report).values()) else 0)
        return w

    exactly(trial)


def available():
    return int(re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[1]) << 10


def test_a_hundred_thousand_keys(run):
    """Before 6.1 all of the map is allocated at once, some 270 MB on two CPUs: if that is more
    than a quarter of the available memory, the test takes fewer keys."""
    keys = 100_000 if tally.KERNEL >= (6, 1) or available() > 2 << 30 else 10_000
    result = run("--json", "-v", "--by", "tid", "--max-keys", keys, "-a", "--", "true")
    assert result.code == 0, result
    report = result.report
    assert report["events"] and not report["lost"]["map_full"]
    (line,) = [line for line in result.stderr.splitlines() if "map keyed_waits" in line]
    assert int(re.search(r"(\d+) elements", line)[1]) >= keys
    assert re.search(r"^runqlat: maps: .* now, .* when full$", result.stderr, re.M)


def test_more_keys_than_memory(run):
    """One sentence, and what to do. (Maps that grow need no memory at first.)"""
    result = run("--json", "--by", "tid", "--max-keys", 100_000_000, "-a", "--", "true")
    if result.code == 0:
        assert result.report["events"]
    else:
        assert result.code == 125 and "memory" in result.stderr, result
        assert "--max-keys" in result.stderr and len(result.stderr.splitlines()) <= 2


# --- nothing stays behind ------------------------------------------------------------------------

def objects():
    """All objects of the machine, in the form of objects_of()."""
    found = {}
    for kind in ("prog", "map", "link"):
        shown = subprocess.run(["/usr/sbin/bpftool", kind, "show", "-j"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, timeout=tally.PATIENCE).stdout
        # An object that vanishes while it is listed has no id.
        found[kind] = {entry.get("id") for entry in json.loads(shown or "[]")}
    return found


def leftovers(ids):
    now = objects()
    return {kind: ids[kind] & now[kind] for kind in ids if ids[kind] & now[kind]}


@pytest.mark.parametrize("how", ("SIGKILL", "SIGINT"))
@pytest.mark.parametrize("args", (("-a",), ("--by", "tid,comm"), ("--source", "wakeup"),
                                  ("--", "sleep", "1000")), ids=" ".join)
def test_nothing_stays_behind(tool, args, how):
    """Not even after kill -9. Ids are not reused, so only our own are looked for."""
    tracer = tool("--json", *args)
    ids = objects_of(tracer.pid)
    assert len(ids["prog"]) >= 1 and len(ids["map"]) >= 5 and len(ids["link"]) >= 1
    assert leftovers(ids) == ids
    command = tally.children(tracer.pid)
    if how == "SIGINT":
        tracer.stop()
    else:
        tracer.process.kill()
        tracer.process.wait()
    wait_until(lambda: not leftovers(ids) and (
        how == "SIGKILL" or not any(map(tally.is_alive, command))), f"the end of {ids}")
    for pid in command:
        if tally.is_alive(pid):
            subprocess.run(["kill", str(pid)], check=True)


def test_many_at_once(tool, trigger):
    """Tools do not disturb each other: all report the same, and all events."""

    def trial():
        load = trigger("sleepers", 5, scaled(100), 100, -1)
        tracers = [tool("--json", "-p", load.pid, "--by", "tid") for _ in range(8)]
        w = work(load)
        reports = [tracer.stop().report for tracer in tracers]
        for report in reports:
            check(report, w)
            assert report["groups"] == reports[0]["groups"]
        return w

    exactly(trial)


def test_threads_that_come_and_go_take_no_room(tool, trigger):
    """State dies with its task: after more tasks than there was ever room for, a wait is still as
    right as the first. (5.10 keeps it in a hash of four times the number of threads at the
    start, at least 16,384. Later kernels have no such limit.)

    All tasks of the machine are measured, and losses may be anybody's."""
    forks = 17000 if tally.KERNEL < (5, 11) else scaled(17000)

    def trial():
        storm = trigger("storm", forks, 2, -1)
        load = trigger("sleepers", 2, 50, 100, -1, comm="napper")
        tracer = tool("--json", "-a", "--by", "comm")
        hidden = tally.holes()
        storm.go()
        storm.done()
        w = work(load)
        hidden = tally.holes() - hidden
        report = tracer.stop().report
        assert not report["lost"]["map_full"] and not report["lost"]["no_memory"]
        groups = by_key(report, "comm")
        try:
            assert groups["storm"]["count"] >= forks - hidden
            check(report, w, groups=[groups["napper"]])
        except AssertionError as error:
            if any(flaws(report).values()):
                raise tally.Blurred from error
            raise

    tally.steady(trial)


@tally.once
def test_more_keys_are_more_packets(run):
    """If the map of packets is full, the report says to raise --max-keys."""
    def room(*more):
        result = run("-v", "-d", "0.05", *more, tool="netlat")
        assert result.code == 0, result
        return int(re.search(r"map packets: (\d+) elements", result.stderr)[1])

    usual = room()
    assert room("--max-keys", usual + 1) == usual + 1 and room("--max-keys", usual - 1) == usual


@tally.once
@pytest.mark.parametrize("name, args", (("profile", ()), ("offcputime", ()), ("memleak", ()), ("faults", ("-g",)),
                                        ("stackcount", ("sched:sched_switch",))),
                         ids=lambda value: value if isinstance(value, str) else "")
def test_the_usual_number_of_keys_is_a_number_too(run, name, args):
    """By default stacks have a different number of entries than other keys: an explicit 10240 is taken literally."""
    def room(*more):
        result = run("-v", "-d", "0.05", *more, *args, tool=name)
        assert result.code == 0, result
        return int(re.search(r"map stacks_small: (\d+) elements", result.stderr)[1])

    assert room("--max-keys", 10240) == 10240 and room("--max-keys", 10241) == 10241 and room() != 10240
