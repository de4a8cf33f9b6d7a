# SPDX-License-Identifier: BSD-2-Clause
"""stackcount on functions of programs and on tracepoints: exact counts and sums by known call chains."""

import errno
import contextlib
import json
import os
import re
import subprocess
import time
from xml.dom import minidom

import pytest

import tally
from stackcounting import CHAINS, ask_of, counts, losses, names, observe, of, parsed, reports_of, value
from tally import BUILD, flaws, once, scaled

pytestmark = pytest.mark.everywhere

N, DEPTH = 7, 6
LEFT, RIGHT = ("left", "target"), ("right", "middle", "target")
BARE, ASK = ("left", "bare"), ("left", "ask")
GETPPID = "syscalls:sys_enter_getppid"


@pytest.fixture
def chains(trigger):
    def start(n=N, threads=0, **kwargs):
        return trigger("chains", n, threads, DEPTH, **kwargs)

    return start


# --- functions of programs -------------------------------------------------------------------------

def test_counts_and_sums(ends, chains):
    """The probed function, whose frame is not set up yet, its caller, and the frames above."""
    load = chains()
    pushes, bare_pushes = load.numbers
    assert pushes and not bare_pushes
    summed = {("target", "--sum", "arg1"): 3 * N, ("bare", "--sum", "arg1 * 3"): N,
              ("target", "--filter", "arg1 > 2", "--sum", "arg1"): 3 * N - 2}
    wanted = {
        ("target",): {LEFT: N, RIGHT: 2 * N},
        ("bare",): {BARE: N},
        ("target", "--sum", "arg1"): {LEFT: N * (N + 1) // 2, RIGHT: 2000 * N},
        ("bare", "--sum", "arg1 * 3"): {BARE: 3 * N * (N + 1) // 2},
        ("target", "--filter", "arg1 >= 1000"): {RIGHT: 2 * N},
        ("target", "--filter", "arg1 > 2", "--sum", "arg1"): {LEFT: N * (N + 1) // 2 - 3, RIGHT: 2000 * N},
        ("target", "--filter", "arg1 == -1"): {},
    }
    found = reports_of(observe(ends, load, [(*CHAINS, *args) for args in wanted]))
    for args, report in zip(wanted, found):
        assert counts(report["stacks"]) == wanted[args], (args, report)
        assert not losses(report) and "[kernel]" not in str(report["stacks"]), report
        if "--sum" in args:
            assert report["events"] == summed[args] and report["value"] == args[args.index("--sum") + 1], report
        else:
            assert report["events"] == sum(wanted[args].values()), report
        assert report["filtered"] >= (3 * N - report["events"] if "--filter" in args else 0), report


def test_recursion(ends, chains):
    """Whatever a function begins with, and however the kernel handles it: no frame occurs twice or is missing."""
    functions = "pushing", "late", "marked", "marked_late"
    found, = reports_of(observe(ends, chains(), [(*CHAINS, *functions)]))
    for name in functions:
        wanted = {("recurse", *[name] * n): 1 for n in range(1, DEPTH + 1)}
        assert counts(of(found, event=name)) == wanted, found
    assert not losses(found)


@once
def test_places(ends, chains):
    """Offsets in the file: the first byte of the probed function, and the return addresses in the others."""
    found, = reports_of(observe(ends, chains(), [(*CHAINS, "target")]))
    for stack in found["stacks"]:
        *above, leaf = stack["frames"]
        assert leaf["offset"] == 0 and leaf["module"] == "chains", leaf
        # Both calls in middle() are one stack by name; their different offsets are left out.
        for frame in above[-2:]:
            assert frame["module"] == "chains", stack
            assert (frame["offset"] is None) == (frame["name"] == "middle") and frame["offset"] != 0, stack


def test_returns(ends, chains):
    """At a function's return its caller is the innermost frame."""
    found, = reports_of(observe(ends, chains(), [(*CHAINS, "target%return")]))
    assert counts(found["stacks"]) == {LEFT[:-1]: N, RIGHT[:-1]: 2 * N}, found


@once
def test_several_events(ends, chains):
    """Each has stacks of its own, in every way to name several."""
    commands = ("target", "bare"), ("-e", "target", "-e", "bare"), ("target", "-e", "bare"), ("target,bare",)
    results = observe(ends, chains(), [(*CHAINS, *args) for args in commands])
    for args, report in zip(commands, reports_of(results)):
        assert {s["key"]["event"] for s in report["stacks"]} == {"target", "bare"}, (args, report)
        assert counts(of(report, event="target")) == {LEFT: N, RIGHT: 2 * N}, (args, report)
        assert counts(of(report, event="bare")) == {BARE: N}, (args, report)


@once
def test_columns(ends, chains):
    """With several events, each has its own column, total and shares."""
    tree, table, json = observe(ends, chains(), [(*CHAINS, "target", "bare", *form)
                                                 for form in ((), ("--by", "sym"), ("--json",))], form=())
    assert re.search(rf"^ +target +bare\n +events +events\n +{3 * N:,} +{N:,}  all$", tree.text, re.M), tree
    assert re.search(r"^target% +bare% +sym\n +0.0 +100.0 +bare\n +100.0 +0.0 +target$", table.text, re.M), table
    assert {e["event"]: e["total"] for e in json.report["event_totals"]} == {"target": 3 * N, "bare": N}, json


@once
def test_every_nth(ends, chains):
    """Each sample stands for N, so sums miss at most the last few events of each CPU, by event."""
    for every in (1, 7):
        counted, several, summed, none = reports_of(
            observe(
                ends,
                chains(),
                [
                    (*CHAINS, "target", "-c", every),
                    (*CHAINS, "target", "bare", "-c", every),
                    (GETPPID, "--sum", "__syscall_nr", "-U", "-c", every),
                    (*CHAINS, "target", "-c", every, "--filter", "arg1 < 0"),
                ],
            )
        )
        last = (every - 1) * os.cpu_count()
        targets, bare = of(several, event="target"), of(several, event="bare")
        for stacks, total, each in (
            (counted["stacks"], 3 * N, 1),
            (targets, 3 * N, 1),
            (bare, N, 1),
            (summed["stacks"], N, 110),
        ):
            assert all(s["value"] % (every * each) == 0 for s in stacks), (every, stacks)
            assert total - last <= value(stacks) / each <= total, (every, total, stacks)
        assert counted["events"] == value(counted["stacks"]) and summed["events"] == N, (counted, summed)
        assert none["events"] == 0 and none["filtered"] >= 3 * N, none
        assert ("estimates" in str(summed.get("note"))) == ("one of every" in counted["source"]) == (every > 1), summed


@once
def test_every_nth_of_many_events(ends, trigger):
    """Each event of a long list takes turns of its own; the load's event is the last one."""
    listed = subprocess.run(
        [BUILD / "list", "--json", "syscalls:sys_enter_*"], stdout=subprocess.PIPE, check=True
    ).stdout
    others = [row["event"] for row in json.loads(listed)["rows"] if row["event"] != GETPPID][:80]
    assert len(others) == 80
    load = trigger("syscalls", 1, "110:400")
    found, = reports_of(observe(ends, load, [(",".join([*others, GETPPID]), "-K", "-c", 4)]))
    assert 400 - 3 * os.cpu_count() <= value(of(found, event=GETPPID)) <= 400, found


@once
def test_globs(ends, chains):
    found, = reports_of(observe(ends, chains(), [(*CHAINS, "marked*")]))
    by_name = {(name, n): 1 for name in ("marked", "marked_late") for n in range(1, DEPTH + 1)}
    assert {(f[-1], len(f) - 1): n for f, n in counts(found["stacks"]).items()} == by_name, found


def test_two_cpus(ends, chains):
    """Both CPUs add to the same counts at the same time."""
    n = scaled(8000)
    load = chains(n, 2)
    total, by_cpu, by_tid = reports_of(observe(
        ends, load, [(*CHAINS, "target", *by) for by in ((), ("--by", "cpu"), ("--by", "tid"))]))
    assert counts(total["stacks"]) == {LEFT: 2 * n, RIGHT: 4 * n}, total
    for cpu in range(2):
        assert counts(of(by_cpu, cpu=cpu)) == {LEFT: n, RIGHT: 2 * n}, by_cpu
    tids = set(load.tids()) - {load.pid}
    assert {s["key"]["tid"] for s in by_tid["stacks"]} == tids and len(tids) == 2, by_tid
    for tid in tids:
        assert counts(of(by_tid, tid=tid)) == {LEFT: n, RIGHT: 2 * n}, by_tid
    assert not losses(total) and not losses(by_cpu) and not losses(by_tid)


# --- tracepoints -----------------------------------------------------------------------------------

def is_kernel(frame):
    return frame["module"] == "[kernel]"


def test_parts(ends, chains):
    """User frames, then kernel frames; -K and -U show the same parts."""
    both, kernel, user = reports_of(observe(ends, chains(), [(GETPPID, *p) for p in ((), ("-K",), ("-U",))]))
    for report in both, kernel, user:
        assert report["events"] == N and len(report["stacks"]) == 1, report
        assert not losses(report)
    whole, = both["stacks"]
    assert "do_syscall_64" in names(kernel["stacks"][0]), kernel
    assert counts(user["stacks"]) == {ASK: N}, user
    n = len(user["stacks"][0]["frames"])
    assert whole["frames"][:n] == user["stacks"][0]["frames"], (whole, user)
    assert whole["frames"][n:] == kernel["stacks"][0]["frames"], (whole, kernel)
    assert all(map(is_kernel, whole["frames"][n:])) and not any(map(is_kernel, whole["frames"][:n]))


def test_all_system_calls(tool, chains):
    """Exact: the whole stack, and no frame of the tracer."""
    load = chains()
    tracer = tool("--json", "syscalls:sys_enter_*", "syscalls:sys_exit_*", "-p", load.pid, tool="stackcount")
    load.go()
    load.done()
    report, = parsed(tracer.stop())
    for event in "enter", "exit":
        stacks = [s for s in of(report, event=f"syscalls:sys_{event}_*") if ask_of(s)]
        assert value(stacks) == N, (stacks, report["lost"])
        for stack in stacks:
            assert is_kernel(stack["frames"][-1]) and "entry_SYSCALL_64_after_hwframe" in names(stack), stack
            assert not any(re.match("bpf|__bpf|__trace|trace_call|perf_", name) for name in names(stack)), stack


@once
def test_keys(ends, chains):
    loads = [chains(comm=name) for name in ("one", "other")]
    pids = ",".join(str(load.pid) for load in loads)

    def work():
        for load in loads:
            load.go()
            load.done()

    results = observe(ends, None, [(GETPPID, "-U", "-p", pids, "--by", by) for by in ("comm", "pid", "pid,comm")],
                      work)
    by_comm, by_pid, by_both = reports_of(results)
    for load, comm in zip(loads, ("one", "other")):
        assert counts(of(by_comm, comm=comm)) == {ASK: N}, by_comm
        assert counts(of(by_pid, pid=load.pid)) == {ASK: N}, by_pid
        assert of(by_pid, pid=load.pid)[0]["key"]["comm"] == comm, by_pid
        assert counts(of(by_both, pid=load.pid, comm=comm)) == {ASK: N}, by_both


@once
def test_sums_of_fields(ends, chains):
    """A field of a tracepoint."""
    with_field, = reports_of(observe(ends, chains(), [(GETPPID, "--sum", "__syscall_nr", "-U")]))
    assert counts(with_field["stacks"]) == {ASK: 110 * N}, with_field


@once
def test_below_zero(ends, chains):
    """A negative sum is lost and counted: a part of a whole cannot be negative."""
    reports = reports_of(observe(ends, chains(), [
        (GETPPID, "--sum", f"__syscall_nr - {n}", "-U") for n in (109, 110, 111)]))
    assert [counts(report["stacks"]) for report in reports] == [{ASK: N}, {}, {}], reports
    assert [report["lost"]["negative"] for report in reports] == [0, 0, N], reports


@once
def test_sums_up_to_64_bits(ends, chains):
    """Two large values add up exactly; a sum that does not fit is the largest number, with a note."""
    large = "arg1 | 0x7000000000000000"
    most = float(2 ** 64 - 1)
    two, all_of_them = reports_of(observe(ends, chains(), [
        (*CHAINS, "target", "--sum", large, "--filter", "arg1 <= 2"), (*CHAINS, "target", "--sum", large)]))
    assert counts(two["stacks"]) == {LEFT: float(2 * 0x7000000000000000 + 3)} and "2^64" not in str(two), two
    assert counts(all_of_them["stacks"]) == {LEFT: most, RIGHT: most}, all_of_them
    assert "sums of 2^64 and more" in all_of_them["note"] and not losses(all_of_them), all_of_them


@once
def test_values_below_zero_are_lost(ends, chains, directory):
    """They count as lost, and are in no sum. A stack with no other value is in no format."""
    path, expression = directory / "sums.svg", (*CHAINS, "target", "--sum", "5 - arg1")
    forms = (("json",), ("json", "--strict"), ("csv",), ("folded",), ("tree",), ("table", "--by", "sym"),
             ("flame", "-o", path))
    as_json, strict, csv, folded, tree, table, flame, others = observe(ends, chains(), [
        *((*expression, "--format", *form) for form in forms),
        (*CHAINS, "target", "--sum", "arg1 - 5", "--format", "json")], form=())
    assert not any(each.code for each in (as_json, csv, folded, tree, table, flame, others))
    assert strict.code == 3, strict
    left, lost = 4 + 3 + 2 + 1, 2 + 2 * N
    for result, sums, n in ((as_json, {LEFT: left}, lost), (strict, {LEFT: left}, lost),
                            (others, {LEFT: 1 + 2, RIGHT: 2 * N * 995}, 4)):
        report, = parsed(result)
        assert counts(report["stacks"]) == sums and losses(report) == {"negative": n}, report
        assert report["events"] == 3 * N - n and "note" not in report, report
    head, line = csv.text.splitlines()
    assert head == "start_ns,duration_ns,sum,stack" and line.split(",")[2] == str(left), csv
    stack, number = folded.text.removesuffix("\n").split(" ")
    assert number == str(left) and line.endswith(f",{stack}") and stack.endswith("main;work;left;target"), folded
    for result in (tree, table):
        assert re.search(rf"^events {3 * N - lost} .* lost {lost}$", result.text, re.M), result
        assert f"{lost} negative: negative values" in result.text and "2^64" not in result.text, result
    assert re.search(rf"^ 100\.0%  100\.0% +{left}  target$", tree.text, re.M) and "right" not in tree.text, tree
    assert re.search(rf"^ +100\.0 +{left}  target$", table.text, re.M), table
    picture = path.read_text()
    assert f", {left} sum during" in picture and f", lost {lost};" in picture and not flame.stdout, picture
    titles = [node.firstChild.data for node in minidom.parse(str(path)).getElementsByTagName("title")]
    assert any(title.startswith("target\n") for title in titles), titles
    assert not any(title.startswith("right\n") for title in titles), titles


@once
def test_a_call_that_fails_has_no_size(ends):
    """A read of an empty pipe returns -EAGAIN, which is no number of bytes."""
    size, reader, writer = 3777, *os.pipe()
    ends.callback(os.close, reader)
    ends.callback(os.close, writer)
    os.set_blocking(reader, False)

    def work():
        for _ in range(N):
            with pytest.raises(BlockingIOError):
                os.read(reader, 1)
        os.write(writer, bytes(size))
        os.read(reader, size)

    report, = reports_of(observe(ends, None, [
        ("syscalls:sys_exit_read", "--sum", "ret", "--filter", f"ret == -{errno.EAGAIN} || ret == {size}", "-K",
         "-p", os.getpid())], work))
    assert (value(report["stacks"]), report["events"], losses(report)) == (size, 1, {"negative": N}), report


# --- depth and room --------------------------------------------------------------------------------

def test_max_depth(ends, chains):
    """Also at a function's entry, where the caller is one of the frames kept."""
    wanted = {
        (GETPPID,): {("[deeper]", "left", "ask"): N},
        (*CHAINS, "target"): {("[deeper]", "left", "target"): N, ("[deeper]", "middle", "target"): 2 * N},
        (*CHAINS, "bare"): {("[deeper]", "left", "bare"): N},
    }
    results = observe(ends, chains(), [(*args, "-U", "--max-depth", 2) for args in wanted])
    for args, report in zip(wanted, reports_of(results)):
        assert {names(s): s["value"] for s in report["stacks"]} == wanted[args], report
        assert report["inexact"]["truncated"] == report["events"] == sum(wanted[args].values()), report


@once
def test_as_deep_as_it_is(ends, chains):
    """A depth that just suffices cuts nothing; one less does."""
    load = chains()
    whole, = reports_of(observe(ends, load, [(GETPPID, "-U")]))
    depth = len(whole["stacks"][0]["frames"])
    exact, less = reports_of(observe(ends, chains(), [(GETPPID, "-U", "--max-depth", n)
                                                      for n in (depth, depth - 1)]))
    assert names(exact["stacks"][0]) == names(whole["stacks"][0]) and not losses(exact), exact
    assert names(less["stacks"][0])[0] == "[deeper]" and less["inexact"]["truncated"] == N, less


@once
def test_more_stacks_than_there_is_room_for(ends, trigger):
    """Stacks are counted up to the limit, and each further one is a loss."""
    n, room = 20_000, 1000
    load = trigger("paths", n)
    args = GETPPID, "-U", "--max-keys", room
    report, whole = reports_of(observe(ends, load, [(*args, "--call-graph", "fp"), args]))
    assert len(report["stacks"]) == report["events"] == room, report["lost"]
    # A stack that finds no room is a loss of one event, with its count.
    assert {reason: n for reason, n in flaws(report).items() if n} == {"map_full": n - room}
    # Whole stacks have more than 24 frames, and a map of their own, half as large. Their counts find room.
    assert whole["events"] == n and len(whole["stacks"]) == room / 2 + 1, whole["lost"]
    assert {reason: n for reason, n in flaws(whole).items() if n} == {"stacks_full": n - room / 2}


@once
def test_each_stack_has_room(ends, trigger):
    n = 20_000
    report, = reports_of(observe(ends, trigger("paths", n), [(GETPPID, "-U")]))
    assert len(report["stacks"]) == report["events"] == n and not losses(report), report["lost"]
    assert {stack["value"] for stack in report["stacks"]} == {1}


@once
def test_no_room(ends, chains):
    """Stacks that find no room are counted, and --strict fails."""
    strict = ("target", "--max-keys", 1, "--strict")
    result, = observe(ends, chains(), [(*CHAINS, *strict)])
    report, = parsed(result)
    assert result.code == 3 and len(report["stacks"]) == 1, result
    assert report["events"] + report["lost"]["map_full"] == 3 * N, report
    assert report["lost"]["map_full"] in (N, 2 * N) and not any(report["inexact"].values()), report


# --- intervals and ends ----------------------------------------------------------------------------

@once
def test_intervals(tool, chains):
    """Intervals add up to the total, each without the events of the last one."""
    loads = [chains(), chains(2 * N)]
    tracer = tool("--json", *CHAINS, "target", "-I", 40, "-p", ",".join(str(load.pid) for load in loads),
                  tool="stackcount")
    for load in loads:
        load.go()
        load.done()
        tracer.await_lines(2)
    reports = parsed(tracer.stop())
    total = {}
    for report in reports:
        for frames, n in counts(report["stacks"]).items():
            total[frames] = total.get(frames, 0) + n
    assert total == {LEFT: 3 * N, RIGHT: 6 * N}, reports
    assert sum(report["events"] > 0 for report in reports) >= 2 and not losses(reports[-1]), reports


def rest(pid):
    """Waits until the tool and the process that reads files for it have nothing to do: they sleep, and stay asleep."""
    def sleeping():
        found = {}
        for each in (pid, *tally.children(pid)):
            with contextlib.suppress(*tally.GONE):
                found[each] = tally.asleep(each)
        return found

    def unchanged():
        before = sleeping()
        time.sleep(0.1)
        return sleeping() == before

    tally.wait_until(unchanged, "the tool rests")


def test_a_process_that_has_gone(tool, chains):
    name = tally.own("gone")
    load = chains(comm=name)
    tracer = tool("--json", *CHAINS, "target", "--comm", name, tool="stackcount")
    tally.settle(tracer.pid)
    before = tally.books(tracer.pid).count
    load.go()
    load.done()
    # The tool is woken to read the mappings of a process when it is first seen.
    tally.wait_until(lambda: tally.books(tracer.pid).count > before, "the tool is woken")
    rest(tracer.pid)
    load.close()
    report, = parsed(tracer.stop())
    assert counts(report["stacks"], whole=False) == {LEFT: N, RIGHT: 2 * N}, report


@once
def test_a_command(run):
    """The first event counts, and so does the last. (In a guest the command would exit before its mappings are
    read.)"""
    result = run(*CHAINS, "target", "bare", "--format", "folded", "--", CHAINS[1], N, 0, 1, tool="stackcount")
    lines = [re.fullmatch(r"(target|bare);(?:[^;]*;){1,3}main;work;(.*) (\d+)", line)
             for line in result.text.splitlines() if not line.startswith(("ready", "done"))]
    assert all(lines), result
    found = {}
    for m in lines:     # some came before the tables of the new program
        found[m[1], m[2]] = found.get((m[1], m[2]), 0) + int(m[3])
    assert found == {
        ("target", ";".join(LEFT)): N, ("target", ";".join(RIGHT)): 2 * N, ("bare", ";".join(BARE)): N}, result


# --- formats ---------------------------------------------------------------------------------------

@once
def test_formats(ends, chains, directory):
    path = directory / "target.svg"
    forms = ("folded",), ("csv",), ("table",), ("tree",), ("flame", "-o", path)
    load = chains(comm=b"a;<\x1b")
    results = observe(ends, load, [(*CHAINS, "target", "--by", "comm", "--format", *form) for form in forms], form=())
    for result in results:
        assert result.code == 0 and b"\x1b" not in result.stdout, result
    folded, csv, table, tree, flame = results
    found = dict(line.rsplit(" ", 1) for line in folded.text.splitlines())
    assert {tuple(stack.split(";")[-len(chain):]): int(found[stack]) for stack in found
            for chain in (LEFT, RIGHT) if stack.endswith(";".join(chain))} == {LEFT: N, RIGHT: 2 * N}, folded
    assert all(stack.startswith("a\\x3b<\\x1b;") for stack in found) and len(found) == 2, folded
    head, *lines = csv.text.splitlines()
    assert head == "start_ns,duration_ns,comm,events,stack" and len(lines) == 2, csv
    assert f",{2 * N}," in lines[0] and lines[0].endswith("main;work;right;middle;target"), csv
    assert re.search(rf"\b{3 * N}\b", table.text) and "events" in table.text, table
    assert re.search(rf"\b{2 * N} +(?:\S+ <- )*", tree.text) and "source: uprobe" in tree.text, tree
    assert not flame.stdout
    texts = [node.firstChild.data for node in minidom.parse(str(path)).getElementsByTagName("title")]
    assert any(text.startswith("target\n") for text in texts) and "\x1b" not in "".join(texts), texts


@once
def test_tables(ends, chains):
    by_sym, by_both, by_event = observe(ends, chains(), [
        (*CHAINS, "target", "--by", "sym"), (*CHAINS, "target", "--by", "comm,dso,sym"),
        (*CHAINS, "target", "bare", "--by", "sym")], form=("--json",))
    row, = by_sym.report["rows"]
    assert row == {"sym": "target", "percent": 100.0, "events": 3 * N}, by_sym
    row, = by_both.report["rows"]
    assert (row["comm"], row["dso"], row["sym"], row["events"]) == ("chains", "chains", "target", 3 * N), by_both
    found = {(row["event"], row["sym"]): row["value"] for row in by_event.report["rows"]}
    assert found == {("target", "target"): 3 * N, ("bare", "bare"): N}, by_event


@once
def test_top(ends, chains):
    found, = reports_of(observe(ends, chains(), [(*CHAINS, "target", "--top", 1)]))
    assert counts(found["stacks"]) == {RIGHT: 2 * N} and found["events"] == 3 * N and found["hidden"] == 1, found


# --- wrong usage -----------------------------------------------------------------------------------

@once
@pytest.mark.parametrize("args, said", (
    ((), "no event given"),
    ((GETPPID, "-K", "-U"), "-K and -U"),
    (("tally:nothing",), "tally:nothing"),
    ((GETPPID, "--caller", "ksys_*"), f"--caller: {GETPPID} is not a kernel function"),
    ((GETPPID, "--caller", 'a"b'), "--caller"),
    ((*CHAINS, "target", "--caller", "ksys_*"), "is not a kernel function"),
    ((*CHAINS, "nowhere"), "nowhere"),
    ((GETPPID, "--sum", "nothing"), "nothing"),
    ((GETPPID, "--filter", "(("), "--filter"),
    ((GETPPID, "--by", "module"), "dso"),
    ((GETPPID, "--max-depth", "0"), "--max-depth"),
    ((GETPPID, "--format", "png"), "flame"),
    ((GETPPID, "--format", "folded", "--by", "sym"), "table"),
    (("cpu-clock",), "cpu-clock"),
))
def test_wrong_usage(run, args, said):
    result = run(*args, "-d", "0.1", tool="stackcount")
    assert result.code in (1, 2, 4) and said in result.stderr and not result.stdout, result
    assert "libbpf" not in result.stderr, result


@once
def test_explain(run):
    result = run("-n", *CHAINS, "target", tool="stackcount")
    assert result.code == 0 and "chains:target, uprobe" in result.text, result
