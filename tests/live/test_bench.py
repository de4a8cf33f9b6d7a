# SPDX-License-Identifier: BSD-2-Clause
"""bench: every load performs exactly its operations, as counted by syscount; a tracer is attached
before each round with it and gone after it; nothing is left behind, however bench ends. No test
checks durations."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

import tally
from snooping import PREEMPTIBLE, exact
from tally import BUILD, flaws, once, scaled, wait_until

N = scaled(2000)
FEW = scaled(40)

# A load, its options, and its operations per loop.
LOADS = {
    "sched-pipe": (("--groups", 2), 2),
    "sched-messaging": (("--groups", 2, "--tasks", 3), 18),
    "futex-wake": (("--tasks", 3), 3),
    "futex-hash": (("--tasks", 2), 2),
    "syscall": (("--tasks", 2), 2),
    "open": (("--threads", "--tasks", 2), 2),
    "page-fault": ((), 256),
    "fork": ((), 1),
    "exec": ((), 1),
    "memcpy": (("--size", "64K"), 1),
    "memset": (("--size", 1), 1),
}

# The expected system calls of each load per loop.
CALLS = {
    ("sched-pipe",): {"read": 2, "write": 2},
    ("sched-pipe", "--threads", "--groups", 3): {"read": 6, "write": 6},
    ("sched-messaging", "--groups", 2, "--tasks", 3, "--pipe"): {"write": 18},
    ("syscall", "--tasks", 2): {"getppid": 2},
    ("open",): {"openat": 1, "close": 1},
    ("page-fault",): {"mmap": 1, "madvise": 1, "munmap": 1},
    ("fork",): {"clone": 1, "wait4": 1},
    ("exec",): {"clone": 1, "wait4": 1},
}


@pytest.fixture
def bench(run):
    def result(*args, **kwargs):
        return run("bench", *args, tool="tally", **kwargs)

    return result


@pytest.fixture
def rows(bench):
    """The rows of a successful run."""
    def found(*args):
        result = bench("--json", *args)
        assert result.code == 0 and not result.stderr, result
        return result.report["rows"]

    return found


def calls(report):
    """{syscall: number} in syscount's report. If the kernel skipped programs and syscount
    reports it, some are missing."""
    lost = {reason for reason, n in flaws(report).items() if n}
    if PREEMPTIBLE and lost == {"recursion"}:
        raise tally.Blurred
    assert not lost, report
    return {row["syscall"]: row["calls"] for row in report["rows"]}


def family(pid):
    """A process and all its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text(errors="replace").rpartition(")")[2]
                                                 .split()[1])
        except (FileNotFoundError, ProcessLookupError):
            pass
    found = [pid]
    for one in found:               # grows meanwhile
        found += [child for child, parent in parents.items() if parent == one]
    return found


def all_gone(pids):
    return not any(tally.is_alive(pid) for pid in pids)


# --- the loads -------------------------------------------------------------------------------------

@once
def test_list(run):
    result = run("bench", "--json", tool="tally")
    assert [row["load"] for row in json.loads(result.text)["rows"]] == list(LOADS)


@pytest.mark.parametrize("load", LOADS)
def test_operations(rows, load):
    options, of_loop = LOADS[load]
    (row,) = rows(load, "-l", FEW, "-r", 3, *options)
    assert row["tracer"] == "without" and row["rounds"] == 3
    assert row["operations"] == 3 * FEW * of_loop
    assert 0 < row["min"] <= row["ns_per_op"] <= row["max"]
    assert (row["low"], row["high"], row["confidence"]) == (row["min"], row["max"], 0.75)
    assert row["ops_per_s"] == int(1e9 / row["ns_per_op"])
    assert (row["bytes_per_s"] is not None) == (load in ("sched-messaging", "memcpy", "memset"))
    assert row["verdict"] is None


@pytest.mark.parametrize("load", CALLS, ids=lambda load: load[0])
@exact
def test_calls(run, load, directory):
    """syscount counts exactly as many system calls as there are operations: by name, since bench
    itself makes others; and of its children only, since perf bench has such names, too."""
    name, *options = load
    result = run("--json", "--comm", name, "--", BUILD / "tally", "bench",
                 "-o", directory / "table", name, "-l", FEW, "-r", 1, *options, tool="syscount")
    assert result.code == 0, result
    seen = calls(result.report)
    for call, of_loop in CALLS[load].items():
        assert seen[call] == of_loop * FEW, (call, seen)


def test_one_cpu(rows):
    """On one CPU a token cannot move on before its task is switched out: two switches for a round trip."""
    cpu = min(os.sched_getaffinity(0))
    (row,) = rows("sched-pipe", "-l", N, "-r", 1, "-C", cpu)
    assert row["operations"] == N
    assert row["switches"] * N >= 2 * N - 2
    assert row["user_ns"] + row["system_ns"] > 0


def test_sizes(rows):
    """Bytes are the number of operations times their size."""
    (row,) = rows("memcpy", "-l", FEW, "-r", 1, "--size", "4K")
    assert row["bytes_per_s"] == int(4096 * 1e9 / row["ns_per_op"])


@once
def test_loops_are_found(rows):
    """Without -l, rounds take as long as -d says; all have the same number of loops."""
    (row,) = rows("syscall", "-d", 0.2, "-r", 4)
    assert row["operations"] % 4 == 0 and row["operations"] > 400


# --- with a tracer -------------------------------------------------------------------------------

@exact
def test_tracer_of_ours(rows, directory):
    """It is attached from before the load begins until it ends: it has counted each call."""
    path = directory / "output"
    rounds = 5
    without, beside = rows("syscall", "-l", N, "-r", rounds, "--tracer-output", path, "--settle",
                           0, "--", BUILD / "tally", "syscount", "--json", "--comm", "syscall")
    assert (without["tracer"], beside["tracer"]) == ("without", "with")
    assert without["operations"] == beside["operations"] == N * rounds
    assert beside["ratio"] == pytest.approx(beside["ns_per_op"] / without["ns_per_op"])
    assert beside["extra_ns"] == pytest.approx(beside["ns_per_op"] - without["ns_per_op"])
    verdicts = {"slower": beside["low"] > without["high"],
                "faster": beside["high"] < without["low"]}
    expected = [verdict for verdict, is_so in verdicts.items() if is_so]
    assert beside["verdict"] == (expected or ["cannot be told apart"])[0]
    reports = [json.loads(line) for line in path.read_text().splitlines()]
    assert [calls(report)["getppid"] for report in reports] == [N] * rounds
    assert path.stat().st_mode & 0o777 == 0o600


@once
def test_the_comparison_is_a_sentence(bench):
    note = bench("--json", "syscall", "-l", 100, "-r", 5, "--settle", 0, "--", "sleep", "4711").report["note"]
    times = r"[\d.]+ times, [+-][\d.]+ ns \([+-][\d.]+ to [+-][\d.]+\)"
    alike = r"no difference beyond the variation between rounds \([\d.]+ ns without it, [\d.]+ ns with it\)"
    either = f"({times}|{alike}|rounds are too short to tell)"
    assert re.match(f"time of one call with the tracer: {either}; CPU time: {either}(; more rounds.*)?$", note), note


@once
def test_a_link_is_ours(rows):
    rows("syscall", "-l", 10, "-r", 1, "--", BUILD / "syscount", "-a")


@once
def test_tracer_of_others(rows):
    """It gets its time to settle, and is ended."""
    _, beside = rows("syscall", "-l", 100, "-r", 5, "--settle", "0", "--", "sleep", "4711")
    assert beside["rounds"] == 5 and beside["verdict"]
    _, beside = rows("syscall", "-l", 100, "-r", 4, "--settle", "0", "--", "sleep", "4711")
    assert beside["verdict"] == "too few rounds"


FAILING = (
    (("true",), "ended before the load ended, with status 0"),
    (("nosuchprogram",), "cannot run 'nosuchprogram': No such file"),
    ((BUILD / "runqlat", "-p", "x"), "'x'"),
    (("sh", "-c", "echo some words >&2; exit 5"), "some words"),
    (("sh", "-c", "kill -9 $$"), "killed by signal 9"),
    (("sh", "-c", "trap 'exit 3' INT; sleep 4711 & wait"), "with status 3"),
)


@once
@pytest.mark.parametrize("command, said", FAILING, ids=lambda v: v if isinstance(v, str) else "")
def test_failing_tracer(bench, command, said):
    result = bench("syscall", "-l", 10, "--settle", "0.2", "--", *command)
    assert result.code == 1 and said in result.stderr and not result.stdout, result


# --- its end ---------------------------------------------------------------------------------------

ENDLESS = 1 << 40
LONG = {
    "processes": ("sched-messaging", "--groups", 1, "--tasks", 3),
    "threads": ("futex-wake",),
    "forks": ("fork",),
}


def begun(tool, *args):
    """A bench whose load is running, and all its processes."""
    each = tool("bench", *args, tool="tally", ready=False)
    load = args[0]

    def running():
        pids = family(each.pid)
        names = [name for pid in pids for name in names_of(pid)]
        return pids if load in names else None

    return each, wait_until(running, f"{load} does not begin")


def names_of(pid):
    try:
        return [Path(f"/proc/{pid}/task/{tid}/comm").read_text(errors="replace").strip()
                for tid in tally.threads(pid)]
    except (FileNotFoundError, ProcessLookupError):
        return []


@pytest.mark.parametrize("load, how", (
    ("processes", signal.SIGINT), ("processes", signal.SIGTERM), ("processes", signal.SIGKILL),
    ("threads", signal.SIGINT), ("forks", signal.SIGINT)))
def test_nothing_is_left(tool, load, how):
    each, pids = begun(tool, *LONG[load], "-l", ENDLESS)
    assert len(pids) > 1
    result = each.stop(how)
    wait_until(lambda: all_gone(pids), "processes are left")
    if how != signal.SIGKILL:
        assert result.code == 1 and "before the first round" in result.stderr, result


@once
@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGKILL))
def test_no_tracer_is_left(tool, how):
    """Ends bench while the load runs with a tracer."""
    each = tool("bench", "sched-pipe", "-l", N, "-r", 1000, "--settle", "0", "--", "sleep", "4711",
                tool="tally", ready=False)
    pids = wait_until(lambda: [pid for pid in family(each.pid) if "sleep" in names_of(pid)],
                      "no tracer")
    each.stop(how)
    wait_until(lambda: all_gone(pids), "the tracer is left")


@once
def test_descendants_of_a_tracer_end(tool):
    """Even if they ignore SIGINT, like the background jobs of a shell."""
    each = tool("bench", "sched-pipe", "-l", N, "-r", 3, "--settle", "0.2", "--", "sh", "-c",
                "sleep 4711 & wait", tool="tally", ready=False)
    pids = wait_until(lambda: [pid for pid in family(each.pid) if "sleep" in names_of(pid)],
                      "no tracer")
    assert each.wait().code == 0
    assert all_gone(pids)


@once
def test_interrupted_after_some_rounds(tool):
    """The rounds up to then are reported."""
    each = tool("bench", "syscall", "-v", "-l", 1, "-r", 1000, "--settle", "0.1", "--", "sleep",
                "4711", tool="tally", ready=False)
    wait_until(lambda: os.pread(each.err.fileno(), 1 << 16, 0).count(b"\n") >= 6, "three rounds")
    result = each.stop()
    assert result.code == 0 and "without" in result.text, result


# --- command lines ---------------------------------------------------------------------------------

BAD = (
    ("syscal", "did you mean 'syscall'?"),
    ("syscall memcpy", "one load is run at a time"),
    ("-l 5", "no load given"),
    ("syscall -l 0", "'0'"),
    ("syscall -l x", "'x'"),
    ("syscall -r 0", "'0'"),
    ("syscall -r 1001", "'1001'"),
    ("syscall -d 0", "'0'"),
    ("syscall -l 1 -d 1", "-l and -d"),
    ("syscall --groups 2", "syscall does not take --groups"),
    ("syscall --tasks 10001", "'10001'"),
    ("sched-pipe --groups 6000", "at most 10000 tasks"),
    ("sched-messaging --size 15", "16 to 4096"),
    ("sched-messaging --size 5K", "16 to 4096"),
    ("memcpy --size 0", "'0'"),
    ("memcpy --shared", "memcpy does not take --shared"),
    ("memcpy -C x", "'x'"),
    ("memcpy --settle x -- true", "'x'"),
    ("memcpy --", "a command is missing after --"),
)


@once
@pytest.mark.parametrize("line, part", BAD, ids=lambda v: v)
def test_wrong_command_line(bench, line, part):
    result = bench(*line.split(" "))
    assert result.code == 2 and part in result.stderr and not result.stdout, result
    assert all(said.startswith("bench: ") for said in result.stderr.splitlines())


@once
def test_failures_are_said(bench):
    result = bench("syscall", "-C", 1023)
    assert result.code == 1 and "CPUs of -C" in result.stderr, result
    result = bench("memcpy", "--tracer-output", "/nonexistent/file", "--", "true")
    assert result.code == 1 and "/nonexistent/file" in result.stderr, result
