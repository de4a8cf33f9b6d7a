# SPDX-License-Identifier: BSD-2-Clause
"""--call-graph dwarf: known call chains through code without frame pointers, whole and counted exactly."""

import pytest

from probing import binary
from stackcounting import losses, names, observe, reports_of
from tally import Tool, once

pytestmark = pytest.mark.everywhere

N, DEPTH = 5, 30
GETPPID = "syscalls:sys_enter_getppid"
DWARF = ("--call-graph", "dwarf")

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


def chain(stack, of_thread=False):
    """The frames behind work() up to ask(), the C library's as one None; what comes before has to be whole."""
    frames = [(f["name"], f["module"]) for f in stack["frames"] if f["module"] != "[kernel]"]
    at = [name for name, _ in frames].index("work")
    before = [name for name, module in frames[:at] if module == "frameless"]
    assert before == (["crew__member", "work_of_thread"] if of_thread else ["_start", "main"]), stack
    assert not any((name or "").startswith("[") for name, _ in frames), stack
    out = []
    for name, module in frames[at + 1:]:
        if module == "frameless":
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


@once
@pytest.mark.parametrize("how, whole", [
    ((), True), (("--call-graph", "fp"), False), (("-e", "cpu-clock", "-c", 1000000), False)])
def test_profile_of_a_process(ends, trigger, how, whole):
    """Few samples of few programs: their stacks are whole without being asked for. Those of each Nth event cost less."""
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
    """Samples begin at once, and tables come meanwhile, those of what runs first: also of a program that began during the
    run. By frame pointers no stack is whole."""
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
    broken = sum(stack["value"] for stack in mine if "[incomplete]" in names(stack))
    assert total and (broken <= total // 2) == whole, (broken, total, report)
    if not whole:
        return
    found = {chain(stack) for stack in mine if "ask" in names(stack) and "[incomplete]" not in names(stack)}
    assert found and found <= set(CHAINS), found
