# SPDX-License-Identifier: BSD-2-Clause
"""Python frames in stacks: chains, files and lines as the interpreter itself reports them, counted exactly."""

import glob
import json
import os
import platform
import re
import shutil
import subprocess

import pytest

import tally
from probing import compile_trigger
from stackcounting import losses, reports_of
from tally import GUEST, ROOT, Tool, cpu_ns, once, wait_until

pytestmark = [pytest.mark.everywhere,
              pytest.mark.skipif(platform.machine() != "x86_64", reason="stacks of Python are walked on x86-64 only")]

N = 10
GETPPID = "syscalls:sys_enter_getppid"
PROGRAMS = ROOT / "tests/data/python"

# The distribution's interpreters, and others to be tested: TALLY_PYTHONS=/opt/python3.13/bin/python3:...
PYTHONS = sorted(glob.glob("/usr/bin/python3.[0-9]*[0-9]")) + [
    path for path in os.environ.get("TALLY_PYTHONS", "").split(":") if path]
# Releases in other suites of Debian, where they can be fetched (make deps-packages): guests have no network.
RELEASES = ["3.9", "3.13", "3.14", "3.15"] if shutil.which("mmdebstrap") and not GUEST else []


@pytest.fixture(params=PYTHONS + RELEASES)
def python(request):
    if request.param not in RELEASES:
        return request.param
    fetched = subprocess.run([ROOT / "tests/pythons", request.param], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode == 77:
        pytest.skip(f"Debian's suites do not have {request.param} any more")
    assert fetched.returncode == 0
    return fetched.stdout.strip()


@pytest.fixture
def program(ends, python):
    """Starts a program that waits for go()."""
    def start(name, *args):
        process = subprocess.Popen([python, str(PROGRAMS / name), *map(str, args)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        ends.callback(lambda: (process.kill(), process.communicate()))
        assert process.stdout.readline() == "ready\n"
        return process

    return start


def chain(stack):
    """The Python frames: (function, file, line)."""
    return tuple((f["name"], f["file"], f["line"]) for f in stack["frames"] if f.get("python"))


def chains_of(report):
    found = {}
    for stack in report["stacks"]:
        found[chain(stack)] = found.get(chain(stack), 0) + stack["value"]
    return found


def snap(run, pids, *args):
    """The stacks of a picture of these processes by thread, and its report."""
    result = run("--json", "-g", "-U", "--by", "tid", "-p", pids, *args, tool="snap")
    assert result.code == 0, result
    report = result.report
    assert all(stack["value"] == 1 for stack in report["stacks"]), report
    return {stack["key"]["tid"]: stack for stack in report["stacks"]}, report


def names(stack):
    return [frame["name"] for frame in stack["frames"]]


def addresses(stack):
    return {frame["addr"] for frame in stack["frames"] if frame["addr"]}


def measure(ends, process, *args):
    tracer = Tool("--json", GETPPID, "-U", "--lines", *args, "-p", process.pid, tool="stackcount")
    ends.callback(tracer.close)
    tracer.ready()
    out, _ = process.communicate("go")
    assert process.returncode == 0
    report, = reports_of([tracer.stop()])
    said = {tuple(map(tuple, frames)): n for frames, n in json.loads(out)}
    return report, said


@pytest.mark.parametrize("how", ["dwarf", "fp"])
def test_chains(ends, program, how):
    """
    Recursion, generators, coroutines, callbacks from C, properties, destructors, code that comes and goes, threads,
    names in all alphabets: each frame with its file and line, and nothing else. How the native stack is walked makes no
    difference.
    """
    report, said = measure(ends, program("chains.py", N), "--call-graph", how)
    found = chains_of(report)
    assert {c: n for c, n in found.items() if said.get(c) != n} == {}, report["lost"]
    assert found == said
    assert not losses(report), report["lost"]


@once
def test_between(ends, program):
    """
    Places of C frames: a library that calls back is between its caller and its callee, and no function of the
    interpreter is between Python frames.
    """
    report, _ = measure(ends, program("chains.py", N), "--call-graph", "dwarf")
    through = 0
    for stack in report["stacks"]:
        frames = stack["frames"]
        at = [i for i, frame in enumerate(frames) if frame.get("python")]
        for outer, inner in zip(at, at[1:]):
            between = {frame["module"].split(".")[0] for frame in frames[outer + 1:inner]}
            if frames[outer]["name"] == "calling_back":
                assert "libffi" in between and between <= {"libffi", "_ctypes"}, frames
                through += stack["value"]
            assert not [module for module in between if "python" in module], frames
    assert through == 2 * (N + 4)


@pytest.mark.parametrize("how", ["dwarf", "fp"])
def test_resting(ends, run, program, how):
    """
    Threads that rest in calls, locks, callbacks from C, generators, coroutines: snap shows the chain of each as the
    interpreter itself knows it, the innermost 127 frames of it, with the line that it is at, and without a function of
    the interpreter between them; and no thread runs for it.
    """
    process = program("resting.py")
    tally.rest(process.pid)
    before = tally.history(process.pid)
    stacks, report = snap(run, process.pid, "--lines", "--call-graph", how)
    assert tally.history(process.pid) == before
    said = {int(tid): tuple(map(tuple, frames)) for tid, frames in json.loads(process.communicate("go")[0]).items()}
    found = {tid: chain(stacks[tid]) for tid in said}
    assert found == {tid: frames[-127:] for tid, frames in said.items()}
    assert len(said) == len(set(said.values())) == 21
    deep = [tid for tid, frames in said.items() if len(frames) > 127]
    assert len(deep) == 1 and "[deeper]" in names(stacks[deep[0]])
    assert not any("[python]" in names(stack) for stack in stacks.values())
    if how == "dwarf":
        assert not any("_PyEval_EvalFrameDefault" in names(stacks[tid]) for tid in said if tid not in deep), stacks
        assert losses(report) == {"truncated": 1}


@once
def test_resting_forms(ends, run, program):
    """By default the line where each function begins, in every form; without Python, the interpreter's functions."""
    process = program("resting.py")
    tally.rest(process.pid)
    folded = run("-g", "-U", "--format", "folded", "-p", process.pid, tool="snap").text
    source = (PROGRAMS / "resting.py").read_text().splitlines()
    line = {name: source.index(f"def {name}:") + 1 for name in ("sorting()", "in_recv()")}
    assert re.search(rf";sorting resting.py:{line['sorting()']}_\[p\];(.*;)?[^;]*<lambda> resting.py:\d+_\[p\];"
                     rf"in_recv resting.py:{line['in_recv()']}_\[p\];.* 1$", folded, re.M), folded
    mixed, native = (snap(run, process.pid, *args)[0] for args in ((), ("--no-python",)))
    assert len(mixed) == 22 and set(mixed) == set(native)
    for tid, stack in native.items():
        assert not chain(stack) and addresses(mixed[tid]) < addresses(stack), (mixed[tid], stack)


@once
def test_turning(ends, run, program):
    """
    Threads that go from one chain to another all the time, while others begin and end: each picture has chains of one
    moment, or says that there is none.
    """
    process = program("turning.py", N)
    process.stdin.write("go\n")
    process.stdin.flush()
    turns = {(f"turn_{turn}", f"in_{turn}", f"within_{turn}")[:n] for turn in ("left", "right") for n in (1, 2, 3)}
    seen, ran = set(), 0
    for _ in range(20):
        stacks, report = snap(run, process.pid)
        missing = [stack for stack in stacks.values() if {"[ran meanwhile]", "[python]"} & set(names(stack))]
        assert losses(report).get("incomplete", 0) == len(missing), report
        ran += len(missing)
        for stack in stacks.values():
            turn = tuple(name for name, file, _ in chain(stack) if re.match("(turn|in|within)_", name))
            assert not turn or turn in turns, stack
            seen.add(turn)
    assert seen >= {turn for turn in turns if len(turn) == 3}, seen
    assert ran, "no thread ran while it was looked at"


# The Python frames shown, and whether frames are marked as missing.
WHOLE = ((("forged", "forged.py", 7),), False)
NO_LINE = ((("forged", "forged.py", 7),), False)        # the first line of the function
NOTHING = ((), False)
MISSING = ((), True)
LIES = {
    "nothing": WHOLE,
    "no interpreter": NOTHING,
    "nobody's thread": NOTHING,
    "interpreter in the kernel": MISSING,
    "interpreter nowhere": MISSING,
    "interpreters in a circle": MISSING,
    "threads in a circle": MISSING,
    "thread of another": MISSING,
    "record nowhere": MISSING,
    "frame in the kernel": MISSING,
    "frames in a circle": ((("forged", "forged.py", 7),) * 127, False),
    "record of another caller": ((("forged", "forged.py", 7),), True),
    "no code": MISSING,
    "code of no type": MISSING,
    "name of no type": MISSING,
    "name nowhere": MISSING,
    "name without end": MISSING,
    "name of -1": MISSING,
    "name beyond belief": MISSING,
    "name of no kind": MISSING,
    "name of kind 7": MISSING,
    "file nowhere": MISSING,
    "lines without end": NO_LINE,
    "lines of -1": MISSING,
    "lines of no form": NO_LINE,
    "instruction nowhere": NO_LINE,
}


@pytest.fixture
def liars(ends, tmp_path):
    """{pid: (how, process)}: programs that claim to be interpreters, and lie. They wait for go()."""
    path = compile_trigger(tmp_path, PROGRAMS / "forged.c", "-O1", "-Wall", "-Werror", "-rdynamic", "-no-pie",
                           name="python-forged")
    processes = {}
    for how in LIES:
        process = subprocess.Popen([path, how, str(N)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ends.callback(lambda p=process: (p.kill(), p.communicate()))
        assert process.stdout.readline() == "ready\n"
        processes[process.pid] = how, process
    return processes


@once
def test_forged(ends, liars):
    """
    No names that the program does not have, a bounded walk, each stack counted, and missing frames marked and counted.
    The first case has no fault.
    """
    processes = liars
    tracer = Tool(
        "--json", GETPPID, "-U", "--lines", "--by", "pid", "-p", ",".join(map(str, processes)), tool="stackcount"
    )
    ends.callback(tracer.close)
    tracer.ready()
    for _, process in processes.values():
        process.communicate("go")
    report, = reports_of([tracer.stop()])
    found = {}
    for stack in report["stacks"]:
        how, _ = processes[stack["key"]["pid"]]
        assert stack["value"] == N and how not in found, how
        found[how] = chain(stack), "[python]" in [f["name"] for f in stack["frames"]]
    assert found == LIES
    assert losses(report) == {"truncated": N, "incomplete": N * sum(missing for _, missing in LIES.values())}


@once
def test_forged_at_rest(run, liars):
    """The same from outside, by snap."""
    for pid in liars:
        tally.rest(pid)
    stacks, report = snap(run, ",".join(map(str, liars)), "--lines")
    found = {liars[pid][0]: (chain(stack), "[python]" in names(stack)) for pid, stack in stacks.items()}
    assert found == LIES
    missing = sum(missing for _, missing in LIES.values())
    assert losses(report) == {"truncated": 1, "incomplete": missing}
    assert f"{missing} have Python functions that could not be read" in report["note"], report


@once
def test_shares(ends, program):
    """
    CPU time by function against the program's own thread_time(2). A sample is in a function with a probability p that
    is the function's share: of n samples, n p within four standard deviations, sqrt(n p (1 - p)); chance exceeds that
    once in 16,000.
    """
    process = program("shares.py")
    tracer = Tool("--json", "-U", "-F", 999, "-p", process.pid, tool="profile")
    ends.callback(tracer.close)
    tracer.ready()
    process.stdin.write("go\n")
    process.stdin.flush()
    before = tally.cpu_ns(process.pid)
    tally.wait_until(lambda: tally.cpu_ns(process.pid) > before + 1_500_000_000, "a second and a half of a CPU")
    said = json.loads(process.communicate("end\n")[0])
    report, = reports_of([tracer.stop()])
    found = dict.fromkeys(said, 0)
    for stack in report["stacks"]:
        for name, _, _ in chain(stack):
            if name in found:
                found[name] += stack["value"]
    n, total = sum(found.values()), sum(said.values())
    assert n > 300, report["lost"]
    for name, seconds in said.items():
        p = seconds / total
        assert abs(found[name] - n * p) <= 4 * (n * p * (1 - p)) ** 0.5, (found, said)
    assert n >= 0.95 * report["events"], found


def fold(ends, process, *args):
    """Folded stacks of 0.4 s of the process's CPU time, however long that takes."""
    tracer = Tool("--format", "folded", "-U", "-F", 999, *args, "-p", process.pid, tool="profile")
    ends.callback(tracer.close)
    tracer.ready()
    end = cpu_ns(process.pid) + 400_000_000
    wait_until(lambda: cpu_ns(process.pid) > end, "0.4 s of CPU time")
    return tracer.stop().text


@once
def test_forms(ends, program):
    """
    Folded, and as the table of a flame graph: the file, and the kind of frame. The program repeats itself every 10 ms:
    at the usual rate samples hit the same part again and again, for most of a second.
    """
    process = program("shares.py")
    process.stdin.write("go\n")
    process.stdin.flush()
    folded = fold(ends, process)
    line = next(line for line in folded.splitlines() if "often" in line)
    # Up to 3.10, a module begins with its first statement.
    assert re.search(
        r"<module> shares.py:[12]_\[p];timed shares.py:17_\[p];often shares.py:23_\[p];spin shares.py:11_\[p]", line
    ), folded
    assert "_PyEval_EvalFrameDefault" not in line, folded
    without = fold(ends, process, "--no-python")
    assert "often" not in without and "_PyEval_EvalFrameDefault" in without, without
    process.communicate("end\n")
