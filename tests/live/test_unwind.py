# SPDX-License-Identifier: BSD-2-Clause
"""--call-graph dwarf: known call chains through code without frame pointers, whole and counted exactly."""

import os
import re
import shutil
import subprocess

import pytest

from probing import binary
from stackcounting import losses, names, observe, reports_of
from tally import ROOT, Tool, once, settle

pytestmark = pytest.mark.everywhere

arm64 = pytest.mark.skipif(os.uname().machine != "aarch64", reason="return addresses are signed on arm64 only")

N, DEPTH = 5, 30
GETPPID = "syscalls:sys_enter_getppid"
DWARF = ("--call-graph", "dwarf")
TRIGGERS = ROOT / "tests" / "triggers"

# From work() on; None: the C library's own, whose names depend on what is installed.
CHAINS = {
    ("outer", "inner", "ask"): N,
    ("sorting", None, "compare", "ask"): N,
    ("raising", None, "on_signal", "ask"): N,
    ("growing", "ask"): N,
    ("large", "ask"): N,
    ("aligned", "ask"): N,
    ("deep",) * DEPTH + ("ask",): N,
}


def chain(stack, of_thread=False, program="frameless"):
    """The frames behind work() up to ask(), the C library's as one None; what comes before has to be whole."""
    frames = [(f["name"], f["module"]) for f in stack["frames"] if f["module"] != "[kernel]"]
    assert "work" in [name for name, _ in frames], stack
    at = [name for name, _ in frames].index("work")
    before = [name for name, module in frames[:at] if module == program]
    assert before == (["crew__member", "work_of_thread"] if of_thread else ["_start", "main"]), stack
    assert not any((name or "").startswith("[") for name, _ in frames), stack
    out = []
    for name, module in frames[at + 1:]:
        if module == program:
            out.append(name)
        elif not out or out[-1] is not None:
            out.append(None)
    return tuple(out)


def chains_of(report, **kwargs):
    found = {}
    for stack in report["stacks"]:
        found[chain(stack, **kwargs)] = found.get(chain(stack, **kwargs), 0) + stack["value"]
    return found


@pytest.fixture
def frameless(trigger):
    def start(threads=0, **kwargs):
        return trigger("frameless", N, threads, DEPTH, **kwargs)

    return start


def test_chains(ends, frameless):
    """Through the C library, out of a signal handler on its own stack, frames of unknown size."""
    found, = reports_of(observe(ends, frameless(), [(GETPPID, *DWARF, "-U")]))
    assert chains_of(found) == CHAINS, found
    assert not losses(found), found


def test_vfork(ends, trigger):
    """glibc's vfork() on x86-64 has its return address in a register, since its child uses the same stack."""
    event = "syscalls:sys_enter_" + ("vfork" if os.uname().machine == "x86_64" else "clone")
    found, = reports_of(observe(ends, trigger("vforks", N), [(event, *DWARF, "-U")]))
    stack, = found["stacks"]
    assert [f["name"] for f in stack["frames"]][-3:] == ["work", "outer", "vfork"] and stack["value"] == N, found
    assert "_start" in [f["name"] for f in stack["frames"]] and not losses(found), found


@arm64
def test_signed(ends, trigger):
    """Return addresses that are signed, from which the signature has to be taken."""
    found, = reports_of(observe(ends, trigger("signed_frameless", N, 0, DEPTH), [(GETPPID, *DWARF, "-U")]))
    assert chains_of(found, program="signed_frameless") == CHAINS, found
    assert not losses(found), found


@arm64
def test_signed_frame_records(ends, trigger):
    """The same in a walk by frame pointers."""
    found, = reports_of(observe(ends, trigger("signed_chains", N, 0, DEPTH), [(GETPPID, "--call-graph", "fp", "-U")]))
    assert chains_of(found, program="signed_chains") == {("left", "ask"): N}, found


def test_links(ends, trigger):
    """Out of code that has frames and no tables, and out of a handler to a function that has neither frame nor
    callees."""
    found, = reports_of(observe(ends, trigger("links", N), [(GETPPID, *DWARF, "-U")]))
    assert chains_of(found, program="links") == {
        ("through", "ask"): N, ("interrupted", None, "on_signal", "ask"): N}, found
    assert not losses(found), found


@once
@pytest.mark.skipif(not shutil.which("ld.lld"), reason="there is no lld")
def test_linked_by_lld(ends, trigger, directory):
    """Whose code has other addresses than offsets in the file, and begins in the middle of a page."""
    path = directory / "frameless"
    subprocess.run(
        [
            "cc",
            "-D_GNU_SOURCE",
            "-O2",
            "-std=gnu11",
            "-fuse-ld=lld",
            TRIGGERS / "frameless.c",
            "-pthread",
            "-o",
            path,
        ],
        check=True,
        stderr=subprocess.PIPE,
    )
    text = next(
        line.split()
        for line in subprocess.run(
            ["readelf", "-lW", path], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        if " R E " in line
    )
    assert int(text[1], 16) != int(text[2], 16), text
    found, = reports_of(observe(ends, trigger(str(path), N, 0, DEPTH), [(GETPPID, *DWARF, "-U")]))
    assert chains_of(found) == CHAINS, found


@once
def test_threads(ends, frameless):
    found, = reports_of(observe(ends, frameless(threads=2), [(GETPPID, *DWARF)]))
    assert chains_of(found, of_thread=True) == {frames: 2 * n for frames, n in CHAINS.items()}, found


def test_at_entry(ends, frameless):
    """Before a function has done anything, and at its return: its caller is at the top of the stack, or has it."""
    at_entry, at_return = reports_of(observe(ends, frameless(), [
        ("-x", binary("frameless"), "ask", *DWARF), ("-x", binary("frameless"), "compare%return", *DWARF)]))
    assert chains_of(at_entry) == CHAINS, at_entry
    assert chains_of(at_return) == {("sorting", None): N}, at_return


@once
def test_filter(ends, frameless):
    """With compiled functions beside the walk."""
    found, = reports_of(observe(ends, frameless(), [
        ("-x", binary("frameless"), "ask", "--filter", "arg1 == 1", "--sum", "arg1 + 1", *DWARF)]))
    assert chains_of(found)[("large", "ask")] == 2 * N, found


@once
@pytest.mark.parametrize("how", [("stackcount", GETPPID), ("faults", "-g"), ("offcputime",)],
                         ids=" ".join)
def test_without_being_asked_for(tool, frameless, how):
    """Stacks of all tools are whole, which end in code of the C library without frame pointers."""
    load = frameless()
    name, *args = how
    tracer = tool("--json", *args, "-U", "-p", load.pid, tool=name)
    load.go()
    load.done()
    settle(load.pid)
    load.close()        # ends a wait that is whole, and the run
    report, = tracer.wait().reports
    found = [names(stack) for stack in report["stacks"]]
    below = [stack for stack in found if "main" in stack]
    assert below, report
    assert all(stack[0] == "_start" for stack in below), report
    assert not any("[incomplete]" in stack for stack in found), report


@once
@pytest.mark.skipif(not shutil.which("python3"), reason="there is no Python")
def test_lazy_binding():
    """The dynamic linker's function that looks up another one at its first call finds its frame by rbx, which its
    callees save. It touches pages for the first time in each process."""
    tracer = Tool("--json", "-g", "-U", "--", shutil.which("python3"), "-c", "1", tool="faults", ready=False)
    result = tracer.wait()
    assert result.code == 0, result
    found = [names(stack) for stack in result.report["stacks"]]
    at = [
        (stack, i)
        for stack in found
        for i, name in enumerate(stack)
        if (name or "").startswith("_dl_runtime_resolve")
    ]
    if not at:
        pytest.skip("all functions are bound at the start, or the dynamic linker has no such name")
    assert all(i > 0 and stack[i - 1] != "[incomplete]" for stack, i in at), at


@once
def test_by_frame_pointers(ends, frameless):
    """The same without tables is not whole, and says so."""
    found, = reports_of(observe(ends, frameless(), [(GETPPID, "-U", "--call-graph", "fp")]))
    assert all("[incomplete]" in names(stack) for stack in found["stacks"]), found


@once
def test_command():
    """A program that begins after the tool has its tables some milliseconds later."""
    command = f"sleep 1.5 | {binary('frameless')} {N} 0 {DEPTH} > /dev/null"
    tool = Tool("--json", GETPPID, *DWARF, "-U", "--", "sh", "-c", command, tool="stackcount", ready=False)
    report, = reports_of([tool.wait()])
    # Shells ask for their parents, too.
    report["stacks"] = [stack for stack in report["stacks"] if "ask" in names(stack)]
    assert chains_of(report) == CHAINS, report


@pytest.mark.exclusive
@once
def test_tables_are_those_of_the_names(ends, frameless, trigger):
    """--comm: of programs that run, that begin, and that are renamed later; and of no others, which begin meanwhile."""
    loads = [frameless(), trigger("frameless", N, 0, DEPTH, "other")]
    tracer = Tool("--json", "-v", "-U", *DWARF, GETPPID, "--comm", "frame*ss", tool="stackcount")
    ends.callback(tracer.close)
    tracer.ready()
    loads.append(frameless())
    subprocess.run(["sh", "-c", "ls > /dev/null; true"], check=True)
    for load in loads:
        load.go()
        load.done()
    result = tracer.stop()
    report, = reports_of([result])
    assert chains_of(report) == {path: 3 * n for path, n in CHAINS.items()}, report
    assert re.search(r"unwind tables: .*; (\d+) processes", result.stderr)[1] == "3", result.stderr


@once
@pytest.mark.parametrize("how, whole", [
    ((), True), (("--call-graph", "fp"), False), (("-e", "cpu-clock", "-c", 1000000), True)])
def test_profile_of_a_process(ends, trigger, how, whole):
    """Their stacks are whole without being asked for, those of each Nth event as well."""
    load = trigger("frameless", 100000, 0, DEPTH)
    tracer = Tool("--json", "-U", "-p", load.pid, *how, tool="profile")
    ends.callback(tracer.close)
    tracer.ready()
    load.go()
    load.done()
    report, = reports_of([tracer.stop()])
    below = [stack for stack in report["stacks"] if "work" in names(stack) or "ask" in names(stack)]
    assert below, report
    assert {"[incomplete]" in names(stack) for stack in below} == {not whole}, report
    assert ("--call-graph dwarf" in report["note"]) != whole, report


@once
@pytest.mark.parametrize("when", ("before", "during"))
@pytest.mark.parametrize("how, whole", [((), True), (("--call-graph", "fp"), False)])
def test_profile_of_the_machine(ends, trigger, when, how, whole):
    """Samples begin at once, and tables come meanwhile, those of what runs first: also of a program that began during
    the run. By frame pointers no stack is whole."""
    load = trigger("frameless", 100000, 0, DEPTH) if when == "before" else None
    tracer = Tool("--json", "-U", *how, tool="profile")
    ends.callback(tracer.close)
    tracer.ready()
    load = load or trigger("frameless", 100000, 0, DEPTH)
    load.go()
    load.done()
    report, = reports_of([tracer.stop()])
    mine = [stack for stack in report["stacks"] if stack["key"]["comm"] == "frameless"]
    total = sum(stack["value"] for stack in mine)
    # While there is a table of the program and none of the C library, a walk comes to the end of the chain of frame
    # pointers there, which is null: one function short of _start.
    good = [
        stack for stack in mine if "[incomplete]" not in names(stack) and names(stack)[0] != "__libc_start_call_main"
    ]
    broken = total - sum(stack["value"] for stack in good)
    assert total and (broken <= total // 2) == whole, (broken, total, report)
    if not whole:
        return
    found = {chain(stack) for stack in good if "ask" in names(stack)}
    assert found and found <= set(CHAINS), found
