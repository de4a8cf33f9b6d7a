# SPDX-License-Identifier: BSD-2-Clause
"""memleak against a program that knows, function by function, what it has not freed."""

import collections
import contextlib
import ctypes
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tally
from filing import after
from first_thread import Lasting
from objects import objects_of
from probing import binary

N = 30

# Allocations and bytes that each function of tests/triggers/leaks.c keeps per round.
KEPT = {
    "leak_malloc": (1, 100), "leak_calloc": (1, 77), "leak_grown": (1, 5000),
    "leak_array": (1, 150), "leak_aligned": (4, 128 + 256 + 320 + 4000), "leak_unmoved": (1, 33),
}


@pytest.fixture
def memleak(tool):
    return functools.partial(tool, "--json", tool="memleak")


def innermost(row):
    return row["stack"].split(" < ")[0]


def of_leaks(report):
    """{function of the trigger: (count, bytes)} of outstanding allocations."""
    rows = [row for row in report["rows"] if innermost(row).startswith(("leak_", "no_leak"))]
    found = {innermost(row): (row["count"], row["bytes"]) for row in rows}
    assert len(found) == len(rows), "a function is there twice"
    return found


def kept(n):
    return {name: (n * count, n * size) for name, (count, size) in KEPT.items()}


def totals(report):
    return [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", report["value"])]


def reported(tracer):
    """The report of a run with a command, which writes to the same output."""
    lines = tracer.wait().text.splitlines()
    return json.loads(next(line for line in lines if line.startswith("{")))


def intact(report):
    assert not any(tally.flaws(report).values()), report["lost"]
    assert "unseen" not in report["value"], report
    return report


def test_each_function(memleak, trigger):
    load = trigger("leaks", N)
    tracer = memleak("-p", load.pid)
    load.go()
    allocs, size, _, left, left_size, earlier = load.done()
    report = intact(tracer.stop().report)
    assert of_leaks(report) == kept(N)
    assert report["events"] == left == sum(row["count"] for row in report["rows"])
    assert left_size == sum(row["bytes"] for row in report["rows"])
    assert totals(report) == [allocs, size]
    assert report["begun_before"] == earlier == N


# uprobe.multi can be limited to one process.
PICKS_PROCESSES = tally.KERNEL >= (6, 10)


@pytest.mark.parametrize("when", ("before", pytest.param("in-the-run", marks=pytest.mark.everywhere)))
def test_the_first_thread_has_ended(memleak, ends, directory, when):
    lasting = Lasting(ends, directory, "kept[n++ % 64] = malloc(100)")
    if when == "before":
        lasting.end_the_first()
    tracer = memleak("-p", lasting.pid)
    lasting.work()
    if when == "in-the-run":
        lasting.end_the_first()
        lasting.work()
    report = intact(tracer.stop().report)
    n = 10 if when == "before" else 20
    if n == 20 and not PICKS_PROCESSES:
        assert report["source"].endswith("; nothing was seen after the first thread of the process exited: run it "
                                         "again")
        n = 10
    assert [(row["count"], row["bytes"]) for row in report["rows"]] == [(n, 100 * n)], report


@tally.once
def test_callers_of_operator_new(memleak, trigger):
    """The table names the callers through the C++ library, which keeps no frame pointers."""
    load = trigger("news", N)
    rows = [row for row in after(memleak("-p", load.pid), load).report["rows"] if row["count"] == N]
    assert len(rows) == 1 and rows[0]["bytes"] == 100 * N, rows
    assert rows[0]["stack"].split(" < ")[:4] == ["operator new(unsigned long)", "maker(int)", "caller(int)", "main"]


def test_copies_of_a_child(memleak, trigger):
    """After a fork the child frees its copies of the parent's memory: the parent still holds its own."""
    load = trigger("leaks", N, "fork")
    report = intact(after(memleak("-p", load.pid), load).report)
    assert of_leaks(report) == kept(N)


def test_command_and_its_child(memleak):
    """The child's frees count as frees of older memory: it was not allocated in that process."""
    path = str(tally.BUILD / "triggers" / "leaks")
    report = intact(reported(memleak("--by", "pid", "--", path, N, "fork")))
    assert of_leaks(report) == kept(N)
    assert len({row["pid"] for row in report["rows"]}) == 1
    assert report["begun_before"] == sum(count for count, _ in kept(N).values())


@tally.once
def test_nothing_is_left_of_before_an_exec(memleak):
    """An exec drops the shell's own memory. dash has no frame pointers, so totals are compared."""
    path = str(tally.BUILD / "triggers" / "leaks")
    direct, through = (reported(memleak("--by", "comm", "--", *command)) for command in
                       ((path, N), ("sh", "-c", f"x=1; exec {path} {N}")))
    assert of_leaks(through) == of_leaks(direct) == kept(N)
    assert through["events"] == direct["events"]
    assert {row["comm"] for row in through["rows"]} == {"leaks"}


@tally.once
def test_everything_freed_by_many_threads(memleak, trigger):
    calls, threads = tally.scaled(400), 4
    load = trigger("mallocs", calls, threads)
    report = intact(after(memleak("-p", load.pid), load).report)
    assert not report["rows"], report
    assert totals(report)[0] >= calls * threads


@tally.once
@pytest.mark.parametrize("of_other", (0, 1), ids=("first-thread", "all-threads"))
def test_blocks_that_change_hands(memleak, trigger, of_other):
    """A thread out of scope frees blocks of one in scope, by realloc() as by free(); a realloc() that fails frees
    nothing. Blocks that it obtains are not shown."""
    load = trigger("handed", N)
    tracer = memleak(*(("-p", load.pid) if of_other else ("-t", load.pid)))
    report = intact(after(tracer, load).report)
    found = collections.Counter()
    for row in report["rows"]:
        found[row["bytes"] // row["count"]] += row["count"]
    assert (found[1000], found[5000]) == (2 * N, of_other * N), report


def test_age(memleak, trigger):
    """Each report shows the memory outstanding then, not the allocations since the last report."""
    load = trigger("leaks", N)
    tracer = memleak("-p", load.pid, "--older", "0.001ms", "0.2")
    old = memleak("-p", load.pid, "--older", "1h")
    load.go()
    load.done()
    tracer.await_lines(3)
    last = tracer.stop().reports[-2:]
    assert [of_leaks(report) for report in last] == [kept(N), kept(N)]
    assert all(0 < row["oldest"] < last[1]["duration_ns"] + 3600e9 for row in last[1]["rows"])
    assert last[1]["rows"][0]["oldest"] > last[0]["rows"][0]["oldest"]
    assert not old.stop().report["rows"]


@tally.once
def test_folded_stacks(tool, trigger):
    load = trigger("leaks", N)
    figures = {}
    tracers = [tool("-p", load.pid, "--format", "folded", *options, tool="memleak")
               for options in ((), ("--count",))]
    load.go()
    load.done()
    for which, tracer in enumerate(tracers):
        lines = [line.rsplit(" ", 1) for line in tracer.stop().text.splitlines()]
        figures[which] = {stack.split(";")[-1]: int(value) for stack, value in lines}
        assert all("main;" in stack for stack, _ in lines)
    assert figures[0] == {name: size for name, (_, size) in kept(N).items()}
    assert figures[1] == {name: count for name, (count, _) in kept(N).items()}


@tally.once
def test_full_map(memleak, trigger):
    load = trigger("leaks", N)
    result = after(memleak("-p", load.pid, "--max-live", 20, "--strict"), load)
    report = result.report
    assert result.code == 3
    assert report["events"] <= 20
    assert report["lost"]["map_full"] >= sum(count for count, _ in kept(N).values()) - 20


@tally.once
def test_what_makes_room(tool, trigger):
    load = trigger("leaks", N)
    text = after(tool("-p", load.pid, "--max-live", 20, tool="memleak"), load).text
    assert " map_full: no room for new keys; raise --max-live\n" in text, text


# A thread frees blocks that are too large for Python's own allocator, and ends later.
CACHING = """
import threading
cached, end = threading.Event(), threading.Event()
def work():
    kept = [bytes(700) for _ in range(5)]
    del kept
    cached.set()
    end.wait()
thread = threading.Thread(target=work)
thread.start()
cached.wait()
print("ready", flush=True)
input()
end.set()
thread.join()
"""


@tally.once
def test_what_ended_threads_had_cached(tool):
    """glibc frees a thread's cache when the thread ends: these frees end no allocation of the run."""
    with subprocess.Popen([sys.executable, "-c", CACHING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
        assert load.stdout.readline() == b"ready\n"
        tracer = tool("-p", load.pid, tool="memleak")
        load.communicate(b"\n", tally.PATIENCE)
        text = tracer.wait().text
    (said,) = re.findall(r"^  ([\d,]+) frees whose allocation was not seen, .*: no loss$", text, re.M)
    assert int(said.replace(",", "")) >= 5 and "began before" not in text, text


@tally.once
def test_one_binary(run, trigger):
    load = trigger("leaks", 1)
    program = tally.BUILD / "triggers" / "leaks"
    found = run("-x", program, "-p", load.pid, "-d", "0.1", tool="memleak")
    assert found.code and f"no malloc() in {program}" in found.stderr
    explained = run("-n", "-p", load.pid, tool="memleak")
    # The file is taken from /proc/PID/map_files, and named as the process sees it.
    library = next(line.split()[-1] for line in open(f"/proc/{load.pid}/maps") if "libc.so" in line)
    assert explained.code == 0 and f"functions of {library}\n" in explained.text, explained
    for wrong in (("--older", "x"), ("-K",), ("--max-live", "0"), ("--sort", "size")):
        assert run(*wrong, tool="memleak").code == 2, wrong


@tally.needs_32_bit_programs
def test_32_bits(memleak, trigger):
    """Its arguments are on the stack, its addresses have four bytes, and it has an allocator of its own."""
    load = trigger("leaks32")
    tracer = memleak("-p", load.pid)
    load.go()
    load.done()
    report = intact(tracer.stop().report)
    assert totals(report) == [109, 4800 + 385 + 200 + 192]
    assert sum(row["count"] for row in report["rows"]) == 40 + 5 + 3
    assert sum(row["bytes"] for row in report["rows"]) == 1920 + 4 * 77 + 200 + 192


@tally.once
def test_more_bytes_than_64_bits_hold(memleak, trigger):
    """Total allocations are exact beyond 64 bits; the outstanding bytes of one row stop at the largest value that
    fits."""
    load = trigger("vast")
    report = intact(after(memleak("-p", load.pid), load).report)
    (row,) = report["rows"]
    assert totals(report) == [5, 5 * (2 ** 63 - 1)] and row["count"] == 3, report
    assert row["bytes"] == float(2 ** 64 - 1), row


@tally.once
def test_programs_without_what_is_probed(memleak, directory):
    """Programs whose allocator is not probed are not in the rows, but the report names them."""
    (directory / "own.c").write_text("#include <stdlib.h>\nint main(void) { return !malloc(4321); }\n")
    subprocess.run(["gcc", "-static", "-o", "with, comma", "own.c"], cwd=directory, check=True)
    subprocess.run(["gcc", "-o", "shared", "own.c"], cwd=directory, check=True)
    script = f"'{directory}/with, comma'; '{directory}/with, comma'; {directory}/shared; exit 0"
    report = reported(memleak("--", "sh", "-c", script, ready=False))
    assert [row["count"] for row in report["rows"] if row["bytes"] == 4321] == [1]
    assert report["source"].endswith("; 2 programs called none of them (with, comma)"), report


def pids_of(name, tracer):
    """The process ids in the keys of a map of the tracer."""
    def bpftool(*args):
        said = subprocess.run(("/usr/sbin/bpftool", "-j", "map", *map(str, args)), stdout=subprocess.PIPE, check=True)
        return json.loads(said.stdout)

    which = next(n for n in objects_of(tracer.pid)["map"] if bpftool("show", "id", n)["name"] == name)
    return {int.from_bytes(bytes(int(byte, 16) for byte in entry["key"][:4]), sys.byteorder)
            for entry in bpftool("dump", "id", which)}


def test_programs_that_have_ended_leave(memleak):
    """Processes that have ended leave the map with -a: else a machine that starts many programs would fill it."""
    tracer = memleak("-a")
    with subprocess.Popen(("sleep", "1000")) as stays:
        tally.wait_until(lambda: (Path(f"/proc/{stays.pid}/comm")).read_text() == "sleep\n", "the program")
        ended = set()
        for _ in range(100):
            with subprocess.Popen("/bin/true") as program:
                ended.add(program.pid)
        known = pids_of("execs", tracer)
        stays.kill()
    # The kernel may have reused a pid.
    left = {pid for pid in known & ended if not Path(f"/proc/{pid}").exists()}
    assert stays.pid in known and not left, left
    tracer.stop()


def test_nothing_is_from_before_an_exec(memleak):
    """The C library frees cached objects when threads end: the program had freed them, so they are not from before the
    run."""
    tracer = memleak("--", "sh", "-c", f"exec {binary('passing')} 4 > /dev/null", ready=False)
    report = reported(tracer)
    assert report.get("begun_before", 0) == 0, report


# --- operator new, which may throw -------------------------------------------------------------------------

REFUSED = binary("refused")


def of_new(report, n):
    """Numbers of the program are exact, and so is the number of times that an exception left operator new."""
    assert report["lost"].pop("unwound") == n
    assert of_functions(intact(report)) == {"keeps": (n, 48 * n), "plainly": (n, 32 * n)}


def of_functions(report):
    """{function: (allocations, bytes)}. A program's first stacks may be incomplete, and have rows of their own."""
    found = {}
    for row in report["rows"]:
        if (name := innermost(row)) in ("keeps", "returns", "plainly", "refuses"):
            count, size = found.get(name, (0, 0))
            found[name] = count + row["count"], size + row["bytes"]
    return found


def test_operator_new_throws(memleak, trigger):
    load = trigger("refused", N)
    tracer = memleak("-p", load.pid)
    load.go()
    assert load.done() == [N]
    report = tracer.stop().report
    of_new(report, N)
    # The two that are kept, the two that are not, and the exception.
    assert totals(report)[0] == 5 * N and report["events"] == 2 * N
    assert report.get("begun_before", 0) == 0
    assert load.process.poll() is None, "the program was ended"


@pytest.mark.parametrize("options", ((), ("-x", REFUSED)), ids=("program", "file"))
def test_operator_new_throws_in_a_command(memleak, options):
    command = (REFUSED, N) if not options else ("sh", "-c", f"{REFUSED} {N} < /dev/null > /dev/null || kill $$")
    of_new(reported(memleak(*options, "--", *command)), N)


def test_operator_new_is_left_out(memleak, trigger):
    """Where the ends of operator new cannot be found, it is not watched, the report says so, and malloc() counts as
    always."""
    load = trigger("untold", N)
    result = after(memleak("-p", load.pid), load)
    report = intact(result.report)
    assert of_functions(report) == {"plainly": (N, 32 * N)}
    assert "left out" in result.stderr and "untold" in result.stderr and "left out" in report["source"]
    assert load.process.poll() is None, "the program was ended"


# --- how it is attached ----------------------------------------------------------------------------------

def kinds_of_links(pid):
    """{kind: number} of the links that a process holds, with the number of its perf events."""
    kinds = collections.Counter()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            name = os.readlink(fd)
            if "bpf" in name and "link" in name:
                text = (fd.parents[1] / "fdinfo" / fd.name).read_text()
                kinds[re.search(r"link_type:\s*(\S+)", text)[1]] += 1
            elif "perf_event" in name:
                kinds["perf_event"] += 1
    return kinds


@pytest.mark.skipif(tally.KERNEL < (6, 10), reason="one event for each function")
@pytest.mark.parametrize("whose", ("everyone", "process"))
def test_one_link_for_all_functions(memleak, trigger, whose):
    """Each link takes a grace period to close, so there is one for the calls and one for the returns."""
    load = trigger("leaks", 1)
    tracer = memleak(*(("-p", load.pid) if whose == "process" else ("--pidns", load.pid)))
    kinds = kinds_of_links(tracer.process.pid)
    load.go()
    load.done()
    report = tracer.stop().report
    # Records of mappings need one perf event per CPU.
    assert (
        kinds["perf_event"] <= os.cpu_count()
        and sum(n for kind, n in kinds.items() if kind.endswith("probe_multi")) == 2
    ), kinds
    assert int(re.search(r"uprobes on (\d+) functions", report["source"])[1]) >= 7
    assert report["events"]


def first_byte(pid, function):
    """The first byte of a libc function in the memory of the process: it shows whether there is a breakpoint."""
    offset = ctypes.cast(getattr(ctypes.CDLL("libc.so.6"), function), ctypes.c_void_p).value
    start = {of: next(int(line.split("-")[0], 16) for line in open(f"/proc/{of}/maps") if "/libc.so" in line)
             for of in (os.getpid(), pid)}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return os.pread(memory.fileno(), 1, offset - start[os.getpid()] + start[pid])


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="a breakpoint there has another form")
def test_other_processes_have_no_probes(memleak, trigger):
    load, other = trigger("leaks", 1), trigger("leaks", 1)
    before = first_byte(other.pid, "malloc")
    tracer = memleak("-p", load.pid)
    seen = [first_byte(each.pid, "malloc") for each in (load, other)]
    tracer.stop()
    assert before != b"\xcc" and seen == [b"\xcc", before]
    assert first_byte(load.pid, "malloc") == before


CHILD = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
sys.stdin.readline()
child = os.fork()
if not child:
    for i in range(100):
        libc.malloc(123457)
os.write(1, f"{child:9}".encode())
sys.stdin.readline()
"""


@pytest.mark.parametrize("option", ("--follow-forks", "--no-follow-forks"))
def test_children_made_later(memleak, option):
    parent = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        tally.settle(parent.pid)
        tracer = memleak("-p", parent.pid, option, "--by", "pid")
        print(file=parent.stdin, flush=True)
        child = sum(int(parent.stdout.read(9)) for _ in range(2))
        report = tracer.stop().report
        parent.communicate("\n\n")
    finally:
        tally.end_process(parent)
    found = sum(row["count"] for row in report["rows"] if row["pid"] == child and row["bytes"] >= 123457)
    assert found == (100 if option == "--follow-forks" else 0), report
