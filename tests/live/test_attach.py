# SPDX-License-Identifier: BSD-2-Clause
"""Places in code that stat can count: functions of programs and of the kernel, probes in
programs, addresses of data. A trigger prints how often it passed there; the report has to agree, and
to name the kind of attachment."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import tally
from counted import (GETPPID, SYSCALLS, Perf, again_when_skipped, counts, lost, stat, why_no_perf,
                     work)
from tally import BUILD, KERNEL, needs_breakpoints, needs_dwarf, once, scaled, wait_until

pytestmark = pytest.mark.everywhere

CALLS, USDT, GUARDED = (BUILD / "triggers" / name for name in ("calls", "usdt", "usdt_semaphore"))
DEVICES = Path("/sys/bus/event_source/devices")
N, THREADS, DEPTH = scaled(400), 3, 20


def check_source(report, multi, single, since):
    """All sites share one link if the kernel has such links."""
    source = report["source"]
    assert multi in source if KERNEL >= since else re.search(rf"\b{single} \(", source), source


def names(report):
    """{event: count}, without the binary's name."""
    return {event.rpartition("/")[2].partition(":")[2]: n for event, n in counts(report).items()}


# --- functions of programs -------------------------------------------------------------------------

FUNCTIONS = {
    # event: {name in the report: calls}, from the numbers of the trigger: KNOWN INLINED NAMED RECURSIVE
    "known_function": lambda k, i, n, r: {"known_function": k},
    "known_function%return": lambda k, i, n, r: {"known_function%return": k},
    "known_function+0": lambda k, i, n, r: {"known_function": k},
    "recursive_function": lambda k, i, n, r: {"recursive_function": r},
    "recursive_function%return": lambda k, i, n, r: {"recursive_function%return": r},
    "one_name": lambda k, i, n, r: {"one_name": n},
    "other_name": lambda k, i, n, r: {"other_name": n},
    "one_name,other_name": lambda k, i, n, r: {"one_name": n, "other_name": n},
    "known_function,known_function%return": lambda k, i, n, r: {
        "known_function": k, "known_function%return": k},
    # Two names of one place count as one place.
    "o*_name": lambda k, i, n, r: {"one_name": n},
    "*_function": lambda k, i, n, r: {"known_function": k, "recursive_function": r},
    "*_function%return": lambda k, i, n, r: {
        "known_function%return": k, "recursive_function%return": r},
}


@pytest.mark.parametrize("event", FUNCTIONS)
def test_functions(tool, trigger, event):
    load = trigger("calls", N, THREADS, DEPTH)
    tracer = stat(tool, "-x", CALLS, "-e", event, "-p", load.pid)
    (said,) = work(load)
    report = tracer.stop().report
    assert names(report) == FUNCTIONS[event](*said)
    assert said == [N * THREADS] * 3 + [(DEPTH + 1) * THREADS]
    assert not lost(report), report
    check_source(report, "uprobe.multi", "uprobe", (6, 6))


@pytest.mark.parametrize("event", ("{}:known_function", "{}:known_function%return"))
def test_binary_in_the_event(tool, trigger, event):
    load = trigger("calls", N, THREADS, DEPTH)
    tracer = stat(tool, "-e", event.format(CALLS), "-p", load.pid)
    work(load)
    assert sum(counts(tracer.stop().report).values()) == N * THREADS


@needs_dwarf
def test_functions_that_are_nowhere_but_inside_others(tool, trigger):
    """Debug information says where they are inlined; each place is a row."""
    load = trigger("calls", N, THREADS, DEPTH)
    try:
        tracer = stat(tool, "-x", CALLS, "-e", "inlined_function", "-p", load.pid)
    except AssertionError as error:
        if "built without" in str(error):
            pytest.skip("this build reads no debug information")
        raise
    work(load)
    found = names(tracer.stop().report)
    assert sum(found.values()) == N * THREADS
    assert len(found) == 2 and all(name.startswith("inlined_function") for name in found)


@pytest.mark.exclusive
@pytest.mark.parametrize("scope", ("-p", "-t", "--comm", "command", "--by tid", "-a"))
def test_scopes_of_functions(run, tool, trigger, directory, scope):
    """Another process runs the same function of the same file all the time."""
    if scope == "command":
        out = directory / "report"
        result = run("--json", "-o", out, "-x", CALLS, "-e", "known_function", "--", CALLS, N,
                     THREADS, DEPTH, tool="stat")
        assert result.code == 0, result
        report = tally.Result(0, out.read_bytes(), b"").report
        assert counts(report) == {"calls:known_function": N * THREADS}
        return
    load, other = trigger("calls", N, THREADS, DEPTH, comm="inside"), \
        trigger("calls", N, 1, DEPTH, comm="outside")
    workers = [tid for tid in load.tids() if tid != load.pid]
    options = {"-p": ("-p", load.pid), "-t": ("-t", workers[0]), "--comm": ("--comm", "in*"),
               "--by tid": ("-p", load.pid, "--by", "tid"), "-a": ("-a",)}[scope]
    tracer = stat(tool, "-x", CALLS, "-e", "known_function", *options)
    work(load, other)
    report = tracer.stop().report
    assert not lost(report), report
    if scope == "--by tid":
        assert counts(report, "tid") == {(tid, "calls:known_function"): N for tid in workers}
    else:
        factor = {"-t": 1, "-a": THREADS + 1}.get(scope, THREADS)
        assert counts(report) == {"calls:known_function": N * factor}


@pytest.mark.preempt
def test_tasks_that_preempt_each_other_keep_their_counts(tool, trigger):
    """A program at a user function can be preempted by a task that runs the same program. Since
    6.13 both then have their key on one stack; to trigger this takes many threads and many calls."""
    loads = [trigger("calls", scaled(32000), 4, DEPTH) for _ in range(2)]
    workers = [tid for load in loads for tid in load.tids() if tid not in load.pids]
    tracer = stat(tool, "-x", CALLS, "-e", "known_function", "--by", "tid", "-p",
                  ",".join(str(load.pid) for load in loads))
    work(*loads)
    report = tracer.stop().report
    assert not lost(report), report
    assert counts(report, "tid") == {(tid, "calls:known_function"): scaled(32000)
                                     for tid in workers}


@pytest.mark.parametrize("events", ("malloc", "__libc_malloc", "malloc,__libc_malloc",
                                    "malloc%return", "mallo[c]"))
def test_functions_of_a_library(tool, trigger, events):
    """By any of its names, and in only one of the processes that have the library mapped."""
    load = trigger("mallocs", N, THREADS)
    tracer = stat(tool, "-x", "libc.so.6", "-e", events, "-p", load.pid)
    (said,) = work(load)
    report = tracer.stop().report
    found = counts(report)
    assert len(found) == len(events.split(","))
    assert set(found.values()) == {said[0]} == {N * THREADS}
    assert not lost(report), report


@once
@pytest.mark.parametrize("event, code, part", (
    ("known_functio", 1, "known_function"), ("nosuchfunction", 1, "no function named 'nosuchfunction'"),
    ("known_function+0x10000", 2, "bytes"), ("nosuch*", 1, "nosuch*"),
    ("known_function%back", 2, "%back"),
))
def test_functions_that_are_not_there(run, event, code, part):
    result = run("-x", CALLS, "-e", event, "-d", 0.1, tool="stat")
    assert result.code == code and result.stdout == b"", result
    assert part in result.stderr and result.stderr.startswith("stat: -e: "), result


@once
def test_a_binary_that_is_not_there(run):
    result = run("-x", "/nonexistent/program", "-e", "main", "-d", 0.1, tool="stat")
    assert result.code == 1 and "/nonexistent/program" in result.stderr, result


# --- probes in programs -----------------------------------------------------------------------------

@pytest.mark.parametrize("event, shown", (
    ("sdt_tally_test:plain", {"plain"}), ("sdt:twice", {"twice"}), ("tally_test:plain", {"plain"}),
    ("sdt_tally_test:guarded", {"guarded"}), ("sdt_tally_*:*", {"plain", "twice", "guarded"}),
    ("sdt_tally_test:plain,sdt_tally_test:twice", {"plain", "twice"}),
))
@pytest.mark.parametrize("binary", (USDT, GUARDED), ids=lambda p: p.name)
def test_usdt(tool, trigger, binary, event, shown):
    load = trigger(binary.name, N)
    tracer = stat(tool, "-x", binary, "-e", event, "-p", load.pid)
    (said,) = work(load)
    report = tracer.stop().report
    assert names(report) == dict.fromkeys(shown, N)
    assert not lost(report), report
    check_source(report, "uprobe.multi", "uprobe", (6, 6))
    # With a semaphore the program passes only while somebody listens.
    assert said == [N, N, N if binary == USDT or "guarded" in shown else 0]


def test_usdt_of_what_the_process_has_mapped(tool, trigger):
    """By the name of the mapping, which no search here finds; with and without the prefix sdt_."""
    load = trigger(USDT.name, N)
    tracers = [stat(tool, "-x", USDT.name, "-e", event, "-p", load.pid)
               for event in ("sdt_tally_test:plain", "tally_test:plain")]
    work(load)
    for tracer in tracers:
        assert names(tracer.stop().report) == {"plain": N}


def semaphore(load):
    """The current semaphore of "guarded" in a running program."""
    symbols = subprocess.run(["readelf", "-sW", GUARDED], stdout=subprocess.PIPE, check=True).stdout
    offset = int(re.search(rb"\d+: ([0-9a-f]+) .* tally_test_guarded_semaphore\n", symbols)[1], 16)
    base = next(line for line in Path(f"/proc/{load.pid}/maps").read_text().splitlines()
                if line.endswith(GUARDED.name))
    with open(f"/proc/{load.pid}/mem", "rb") as memory:
        memory.seek(int(base.split("-")[0], 16) + offset)
        return int.from_bytes(memory.read(2), "little")


@pytest.mark.parametrize("how", ("SIGINT", "SIGKILL"))
def test_semaphores_go_back_to_zero(tool, trigger, how):
    """In programs that ran before and in those that start while we listen, however we end. The kernel
    adds one for all listeners at a place."""
    load = trigger(GUARDED.name, N)
    assert semaphore(load) == 0
    tracers = [stat(tool, "-x", GUARDED, "-e", "sdt_tally_test:guarded") for _ in range(2)]
    late = trigger(GUARDED.name, N)
    assert semaphore(load) == semaphore(late) == 1
    for tracer in tracers:
        if how == "SIGINT":
            tracer.stop()
        else:
            tally.end_process(tracer.process)
    wait_until(lambda: not semaphore(load) and not semaphore(late), "the semaphores at zero")
    assert work(load, late) == [[N, N, 0]] * 2


# --- data ------------------------------------------------------------------------------------------

@needs_breakpoints
@pytest.mark.parametrize("event, which", (
    ("mem:{data}:w", 0), ("mem:{data:#x}/8:w", 0), ("mem:{data:#x}/4:w", 0), ("mem:{data}:rw", 2),
    ("mem:{data}/8", 2), ("mem:{code:#x}:x", 3),
))
def test_data_of_a_program(tool, trigger, event, which):
    """Writes, accesses (reads alone cannot be watched), calls."""
    load = trigger("watched", scaled(400), 2)
    data, code = load.numbers
    event = event.format(data=data, code=code)
    tracer = stat(tool, "-e", event, "-p", load.pid)
    # An emulated processor reports only one of two breakpoints on the same address.
    other = None if tally.GUEST or why_no_perf() else Perf("-e", event, "-p", load.pid)
    (said,) = work(load)
    writes, reads, calls = said
    expected = {0: writes, 2: writes + reads, 3: calls}[which]
    assert counts(tracer.stop().report) == {event: expected}
    if other:
        try:
            assert list(other.stop().values()) == [expected]
        finally:
            other.close()


@needs_breakpoints
def test_the_fifth_breakpoint(run, tool, trigger):
    """x86 has four. A tool that comes too late gets an error; the others count right."""
    load = trigger("watched", scaled(400), 1)
    data = load.numbers[0] & ~63
    events = [f"mem:{data + 8 * i:#x}/8:w" for i in range(5)]
    result = run("-e", ",".join(events), "-p", load.pid, "-d", 0.1, tool="stat")
    assert result.code not in (0, 2) and result.stdout == b"", result
    assert "no free breakpoint" in result.stderr and "four" in result.stderr, result
    watched = f"mem:{load.numbers[0]:#x}/8:w"
    tracers = [stat(tool, "-e", event, "-p", load.pid) for event in
               [watched, *(event for event in events if event != watched)][:4]]
    late = run("-e", watched, "-p", load.pid, "-d", 0.1, tool="stat")
    assert late.code == 1 and "no free breakpoint" in late.stderr, late
    work(load)
    assert counts(tracers[0].stop().report) == {watched: scaled(400)}


@needs_breakpoints
def test_data_of_the_kernel(run, tool):
    """The clock's seconds: written at each tick, often enough for a bound."""
    if not re.search(r"^[0-9a-f]*[1-9a-f][0-9a-f]* \w jiffies(_64)?$",
                     Path("/proc/kallsyms").read_text(), re.M):
        result = run("-e", "mem:jiffies:w", "-d", 0.1, tool="stat")
        assert result.code == 1 and "the kernel has no symbol 'jiffies'" in result.stderr, result
        assert "CONFIG_KALLSYMS_ALL" in result.stderr
        pytest.skip("this kernel's symbols leave its data out; that was said")
    report = run("--json", "-e", "mem:jiffies/8:w", "-a", "-d", 0.5, tool="stat").report
    assert 0 < counts(report)["mem:jiffies/8:w"] < 10_000


@pytest.mark.skipif(tally.stops_at_breakpoints(), reason="breakpoints work here")
@pytest.mark.parametrize("name", ("stat", "profile"))
def test_breakpoints_that_never_stop_are_refused(run, name):
    """perf opens them, and counts 0."""
    result = run("-e", "mem:0x1000:w", "-d", 0.1, tool=name)
    assert (
        result.code == 4 and result.stdout == b"" and "breakpoints do not work on this machine" in result.stderr
    ), result


# --- functions of the kernel -----------------------------------------------------------------------

HAS_KPROBES = DEVICES.joinpath("kprobe").exists()
needs_kprobes = pytest.mark.skipif(not HAS_KPROBES, reason="this kernel has no kprobes")
CALL = "__x64_sys_getppid"
MADE = {"getppid": 1, "getuid": 2, "getpgid": 3, "getsid": 4}


def made(*calls, end=""):
    """The expected counts of these calls."""
    return {f"__x64_sys_{name}{end}": MADE[name] * N * THREADS for name in calls}


@pytest.mark.skipif(HAS_KPROBES, reason="this kernel has kprobes")
@pytest.mark.parametrize("event", (CALL, "__x64_sys_get*id", f"{CALL}%return", f"{CALL}+4"))
def test_without_kprobes(run, event):
    result = run("-e", event, "-d", 0.1, tool="stat")
    assert result.code == 4 and result.stdout == b"", result
    assert "no kprobes" in result.stderr and "CONFIG_KPROBES" in result.stderr


def kernel_calls(tool, trigger, event, *options):
    load = trigger("syscalls", THREADS, *(f"{SYSCALLS[name]}:{n * N}"
                                          for name, n in MADE.items()))
    tracer = stat(tool, "-e", event, "-p", load.pid, *options)
    work(load)
    report = tracer.stop().report
    assert not lost(report), report
    return report


@needs_kprobes
@pytest.mark.parametrize("calls, at, ways", (
    (("getpgid",), ("",), ("fentry (1)",)),
    (("getpgid",), ("%return",), ("fexit (1)",)),
    (("getpgid",), ("", "%return"), ("fentry (1)", "fexit (1)")),
    (("getpgid", "getsid"), ("",), ("fentry (2)",)),
), ids=str)
def test_kernel_functions(tool, trigger, calls, at, ways):
    """A few functions with known types get the cheapest way: a trampoline each."""
    expected = {name: n for end in at for name, n in made(*calls, end=end).items()}
    report = kernel_calls(tool, trigger, ",".join(expected))
    assert counts(report) == expected
    for way in ways:
        assert way in report["source"], report["source"]


@needs_kprobes
@pytest.mark.parametrize("calls, at", (
    (("getppid",), ("",)), (("getppid",), ("%return",)), (("getppid",), ("", "%return")),
    (("getppid", "getuid"), ("",)),
), ids=str)
def test_kernel_functions_of_no_known_type(tool, trigger, calls, at):
    """System calls without arguments have no function in the kernel's BTF."""
    expected = {name: n for end in at for name, n in made(*calls, end=end).items()}
    report = kernel_calls(tool, trigger, ",".join(expected))
    assert counts(report) == expected
    way = "kprobe.multi (" if KERNEL >= (6, 12) else "kprobe ("
    assert report["source"].startswith(way), report["source"]


@needs_kprobes
@pytest.mark.parametrize("end", ("", "%return"))
def test_a_glob_of_kernel_functions(tool, trigger, end):
    report = kernel_calls(tool, trigger, f"__x64_sys_get*id{end}")
    assert counts(report) == made(*MADE, end=end)
    if KERNEL >= (6, 12):
        assert "kprobe.multi (" in report["source"], report["source"]


@needs_kprobes
@pytest.mark.parametrize("events", ((f"__x64_sys_get*id,{CALL}", 1), (f"{CALL},{CALL}", 0)),
                         ids=str)
def test_a_function_that_was_asked_for_twice(tool, trigger, events):
    """Each of the two events counts all calls."""
    events, others = events
    report = kernel_calls(tool, trigger, events)
    rows = [(row["event"], row["count"]) for row in report["rows"] if row["count"]]
    assert sorted(rows) == sorted([*(made(*MADE) if others else made("getppid")).items(),
                                   *made("getppid").items()])


@needs_kprobes
def test_many_kernel_functions(tool, trigger):
    """Hundreds in one glob, or a few dozen one by one, which takes a while."""
    many = KERNEL >= (6, 12)
    report = kernel_calls(tool, trigger, "__x64_sys_*" if many else "__x64_sys_g*")
    assert made(*MADE).items() <= counts(report).items()
    sites = sum(map(int, re.findall(r"\((\d+)\)", report["source"])))
    assert sites > (300 if many else 30), report["source"]


@needs_kprobes
@pytest.mark.parametrize("key", ("tid", "comm"))
def test_kernel_functions_by_key(tool, trigger, key):
    load = trigger("syscalls", THREADS, f"{GETPPID}:{N}", comm="caller")
    tracer = stat(tool, "-e", CALL, "--comm", "caller", "--by", key)
    work(load)
    found = counts(tracer.stop().report, key)
    if key == "tid":
        assert found == {(tid, CALL): N for tid in load.numbers}
    else:
        assert found == {("caller", CALL): N * THREADS}


@needs_kprobes
def test_an_instruction_inside_of_a_function(run, tool, trigger):
    """Offsets of instructions differ: the first one follows the tracer's call, which has 5 bytes, and
    4 more precede that if indirect branches are tracked. Other offsets are refused."""
    right = []
    for offset in (5, 9):
        if run("-e", f"{CALL}+{offset}", "-d", 0.05, tool="stat").code == 0:
            right.append(offset)
    assert right
    for offset in right:
        report = kernel_calls(tool, trigger, f"{CALL}+{offset}")
        found = counts(report)
        assert found == {f"{CALL}+{offset:#x}": N * THREADS}
        assert "kprobe (1)" in report["source"]
    wrong = run("-e", f"{CALL}+1", "-d", 0.05, tool="stat")
    assert wrong.code != 0 and CALL in wrong.stderr, wrong


@needs_kprobes
@pytest.mark.parametrize("event", ("ovl_getattr", "overlay:ovl_getattr", "ovl_getat*",
                                   "ovl_getattr%return"))
def test_functions_of_modules(tool, event):
    """With and without the module's name. The root of the test guests is an overlay."""
    symbols = Path("/proc/kallsyms").read_text()
    if not re.search(r" ovl_getattr\s+\[overlay\]$", symbols, re.M):
        pytest.skip("no overlay file system here, or not as a module")
    path = Path(__file__)
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, check=True)
    if b"overlay" not in kind.stdout:
        pytest.skip("the tests are not on an overlay")
    tracer = stat(tool, "-e", event, "-t", os.getpid())
    for _ in range(N):
        os.stat(path)
    report = tracer.stop().report
    assert sum(counts(report).values()) in (N, N + 1), report
    assert not lost(report)


@needs_kprobes
@pytest.mark.parametrize("event, part", (
    ("__x64_sys_getpid1", "__x64_sys_getpid"), ("nosuchfunction", "nosuchfunction"),
    ("nosuch*function", "nosuch*function"), ("asm_exc_int3", "asm_exc_int3"),
    ("asm_exc_int3%return", "asm_exc_int3"),
))
def test_what_cannot_be_probed(run, event, part):
    result = run("-e", event, "-d", 0.1, tool="stat")
    assert result.code == 1 and result.stdout == b"", result
    assert result.stderr.startswith("stat: -e: ") and part in result.stderr, result
    assert len(result.stderr.splitlines()) <= 5


@needs_kprobes
def test_nothing_stays_behind(tool):
    """Probes go with their process, even after kill -9."""
    tracer = stat(tool, "-e", f"__x64_sys_get*id,{CALL}%return", "-e", f"{CALLS}:known_function",
                  "-a")
    tally.end_process(tracer.process)
    places = Path("/sys/kernel/debug/kprobes/list")
    if places.exists():
        wait_until(lambda: CALL not in places.read_text(), f"the end of the probe of {CALL}")


# --- templates -------------------------------------------------------------------------------------

WALKS = 10000   # verified instructions: a program that walks stacks has far more, any other one far fewer


def verified(pid):
    """The number of instructions that the verifier read for each program of a process."""
    found = []
    for each in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = each.read_text()
        except FileNotFoundError:       # just closed
            continue
        found += map(int, re.findall(r"^verified_insns:\s*(\d+)$", text, re.MULTILINE))
    return found


@pytest.mark.skipif(KERNEL < (5, 16), reason="verified_insns is since 5.16")
@pytest.mark.parametrize("line, most", (
    (("stackcount", "sched:sched_switch"), 0), (("stackcount", "-x", str(CALLS), "known_function"), 0),
    (("probe", "--stream", "-g", "-x", str(CALLS), "known_function"), 0),
    (("memleak", "-p", str(os.getpid())), 2 if KERNEL >= (6, 6) else 1),
), ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_only_copies_of_templates_are_verified(tool, line, most):
    """The tool holds templates for the whole run; the event holds the copy that is attached to it. memleak's
    template for returns needs no substitution, and runs itself; so does that for calls where a link to many places
    (6.6) has a cookie for each."""
    with_stacks = tool(*line[1:], tool=line[0])
    found = verified(with_stacks.pid)
    with_stacks.stop()
    assert found and sum(n >= WALKS for n in found) == most, found


again_when_skipped(globals())
