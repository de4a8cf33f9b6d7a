# SPDX-License-Identifier: BSD-2-Clause
"""Frames have the names of the time of the event: code that is replaced, programs that execute others, processes that
live for a millisecond, other pid namespaces."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

import tally
from probing import binary, compile_trigger
from snooping import exact, nothing_lost
from tally import Tool, scaled

pytestmark = pytest.mark.everywhere

EVENT = "syscalls:sys_enter_getppid"
CALL = """
static long getppid_here(void)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(110L) : "rcx", "r11", "memory");
	return ret;
}
"""
LIBRARY = CALL + """
__attribute__((noinline, section(".text.%(name)s"))) long call_%(name)s(long n)
{
	long sum = 0;

	while (n--)
		sum += getppid_here();
	return sum;
}

long run(long n)
{
	return call_%(name)s(n) + 1;
}
"""
PROGRAM = CALL + """
#include <unistd.h>

__attribute__((noinline)) long call_%(name)s(long n)
{
	long sum = 0;

	while (n--)
		sum += getppid_here();
	return sum;
}

int main(int argc, char **argv)
{
	char c;

	if (argc > 2 && read(0, &c, 1))
		call_%(name)s(%(n)d);
	else
		call_%(name)s(%(n)d);
	if (argc > 1)
		execl(argv[1], argv[1], (char *)0);
	return 0;
}
"""
FLAGS = "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"
NAMES = "one", "two", "three"
N = 2000


def make(directory, source, *flags, name, **values):
    path = directory / f"{name}.c"
    path.write_text(source % {"name": name, **values})
    return compile_trigger(directory, path, *FLAGS, *flags, name=name)


@pytest.fixture
def libraries(directory):
    return [make(directory, LIBRARY, "-shared", "-fPIC", name=name) for name in NAMES]


def callers(report):
    """{calling function of the trigger: calls}; None if no frame has such a name"""
    found = {}
    for stack in report["stacks"]:
        ours = [f["name"] for f in stack["frames"] if re.match("(call_|child_calls)", f["name"] or "")]
        name = ours[-1] if ours else None
        found[name] = found.get(name, 0) + stack["value"]
    return found


def stacks_of(ends, load, *args):
    """stackcount's report on a trigger's work, and the trigger's output."""
    tracer = Tool("--json", "-U", *args, EVENT, tool="stackcount")
    ends.callback(tracer.close)
    tracer.ready()
    load.go()
    said = load.done()
    return tracer.stop().report, said


# --- code that is replaced -------------------------------------------------------------------------

def test_libraries_at_one_address(ends, trigger, libraries):
    """Three libraries, opened and closed in turn, are mapped where the first one was."""
    load = trigger("remaps", "libraries", N, *libraries)
    report, addresses = stacks_of(ends, load, "-p", load.pid)
    assert len(addresses) == 3
    assert callers(report) == {f"call_{name}": N for name in NAMES}, report
    assert len(set(addresses)) == 1, addresses
    assert "may have the names" not in str(report), report


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="code by hand")
def test_code_mapped_over_code(ends, trigger, libraries):
    """MAP_FIXED replaces mappings without unmapping them first, which BPF programs do not see: the report says how many
    events were counted meanwhile, and each has some name."""
    where = []
    for name, path in zip(NAMES, libraries):
        text = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(rf"([0-9a-f]+) T call_{name}\n", text)[1], 16)
        where.append(f"{path}:{offset}")        # code is at its own offset in such small files
    load = trigger("remaps", "fixed", N, *where)
    report, _ = stacks_of(ends, load, "-p", load.pid)
    found = callers(report)
    assert sum(found.values()) == 3 * N, found
    said = re.search(
        r"up to (\d+) may have the names of code that has been mapped over", report.get("note") or ""
    )
    wrong = sum(max(0, n - N) for n in found.values())
    assert not wrong or said and int(said[1]) >= wrong, (found, report)


# --- programs --------------------------------------------------------------------------------------

@pytest.fixture
def programs(directory):
    """Two programs without PIE, at the same address."""
    return [make(directory, PROGRAM, "-no-pie", "-static", name=name, n=n)
            for name, n in (("first", 1500), ("second", 500))]


@pytest.mark.parametrize("tool_name", ("stackcount",))
def test_exec(tool_name, programs):
    first, second = programs
    result = subprocess.run(
        [tally.BUILD / tool_name, "--json", "-U", EVENT, "--", first, second],
        timeout=tally.PATIENCE,
        capture_output=True,
        check=True,
    )
    report = tally.Result(0, result.stdout, result.stderr).report
    assert callers(report) == {"call_first": 1500, "call_second": 500}, report


@pytest.mark.parametrize("scope", ((), ("-a",)), ids=("children", "all"))
@pytest.mark.parametrize("execute", (False, True), ids=("end", "exec"))
def test_short_lives(ends, trigger, directory, execute, scope):
    """Children that live for about a millisecond, of a parent that is not sampled itself; and programs that they
    execute."""
    children = scaled(500)
    program = [make(directory, PROGRAM, "-static", name="short", n=1)] if execute else []
    load = trigger("remaps", "children", children, *program)
    if scope:
        report, _ = stacks_of(ends, load, *scope)
    else:
        report, _ = stacks_of(ends, load, "--comm", "[rs][eh]*")
    wanted = {"child_calls": 3 * children, **({"call_short": children} if execute else {})}
    found = callers(report)
    assert {name: found.get(name) for name in wanted} == wanted, report


# --- code of the kernel that comes during the run --------------------------------------------------

@pytest.mark.parametrize("keep", (True, False), ids=("stay", "go"))
@exact
def test_bpf_programs_that_come_later(tool, trigger, keep):
    """Each has its own name in the report of the interval in which it ran: neither that of another program beside it,
    nor that of one that was at its address before."""
    rounds, n = 4, 20
    load = trigger("printing", rounds, n, int(keep))
    tracer = tool("--json", "-K", "bpf_trace:bpf_trace_printk", "-p", load.pid, "-I", 200, tool="stackcount")
    for _ in range(rounds):
        load.go()
        load.done()
        tracer.await_lines(2)
    reports = tracer.stop().reports
    nothing_lost(*reports)
    found = Counter()
    for report in reports:
        for stack in report["stacks"]:
            names = [frame["name"] for frame in stack["frames"]]
            caller = names[names.index("bpf_trace_printk") - 1]
            found[re.sub("bpf_prog_[0-9a-f]{16}_", "", caller or "[no name]")] += stack["value"]
    assert found == {f"round_{i}": n for i in range(rounds)}, found


# --- pid namespaces --------------------------------------------------------------------------------

def inside(*command):
    return ["unshare", "--pid", "--fork", "--mount-proc", *command]


@pytest.mark.parametrize("tracer_inside", (False, True), ids=("outside", "inside"))
def test_pid_namespace(directory, tracer_inside):
    """The kernel's pids differ from those in /proc in a pid namespace."""
    program = make(directory, PROGRAM, "-static", name="lone", n=300)
    os.mkfifo(directory / "go")
    tool = f"{tally.BUILD / 'stackcount'} --json -U --comm lone --ready-fd 3 {EVENT}"
    work = str(program) if tracer_inside else " ".join(inside(str(program)))
    # The program begins when the tool is ready, and the tool ends with it.
    script = (f"cd {directory}; (read ready < go; {work}; kill -TERM $(cat pid)) & "
              f"sh -c 'echo $$ > pid; exec {tool} 3> go'; wait")
    shell = [*(inside() if tracer_inside else ()), "sh", "-c", script]
    result = subprocess.run(shell, capture_output=True, timeout=tally.PATIENCE, check=True)
    report = tally.Result(0, result.stdout, result.stderr).report
    assert callers(report) == {"call_lone": 300}, (report, result.stderr)
    assert "frame pointers" not in (report.get("note") or "") or not any(
        frame["name"] is None for stack in report["stacks"] for frame in stack["frames"]), report


# A function without a size, as in musl's assembly, followed by one without a symbol in the stripped library.
UNSIZED = CALL + """
__asm__(".text\\n.globl copy\\n.type copy,@function\\ncopy:\\n%(begin)s\\nret\\n%(end)s");
static __attribute__((noinline)) long hidden(long n)
{
	long sum = 0;

	while (n--)
		sum += getppid_here();
	return sum;
}

long run(long n)
{
	return hidden(n) + 1;
}
"""


CFI = (".cfi_startproc", ".cfi_endproc")


@pytest.mark.parametrize("strip, begin, end, name", (
    ("-s", "", "", "near copy"), ("-s", *CFI, None),
    # All symbols but those of local functions are there.
    ("-Wl,-x", "", "", "near copy"), ("-Wl,-x", *CFI, None),
    ("-Wl,-X", "", "", "hidden"),
))
@tally.once
def test_a_symbol_without_a_size(ends, trigger, directory, strip, begin, end, name):
    """The symbol names the function up to its end in .eh_frame. Without one, code after the symbol is "near" it, as it
    may be another function's."""
    flags = ("-shared", "-fPIC", strip, "-fno-toplevel-reorder")
    library = make(directory, UNSIZED, *flags, name="unsized", begin=begin, end=end)
    load = trigger("remaps", "libraries", N, library)
    report, _ = stacks_of(ends, load, "-p", load.pid)
    last = {}
    for stack in report["stacks"]:
        last[stack["frames"][-1]["name"]] = last.get(stack["frames"][-1]["name"], 0) + stack["value"]
    assert last == {name: N}, report


OVERLOADS = """
extern "C" __attribute__((noipa)) void leaf() { asm volatile("" : : "r"(__builtin_frame_address(0))); }
namespace shop { template <class T> struct till {
	__attribute__((noinline)) static void take(T, long) { leaf(); asm volatile(""); }
	__attribute__((noinline)) static void take(T *, char const *) { leaf(); asm volatile(""); }
}; }
int main()
{
	int n = 0;
	for (int i = 0; i < 5; i++)
		shop::till<int>::take(i, 1), shop::till<int>::take(&n, "");
	shop::till<int>::take(2, 1);
	return 0;
}
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
@tally.once
def test_short_names_are_for_people(run, directory):
    """A terminal shows names without parameters, each with its own count; other output, and -v, has full names."""
    (directory / "shop.cc").write_text(OVERLOADS)
    program = directory / "shop"
    subprocess.run(
        [
            "g++",
            "-O1",
            "-fno-omit-frame-pointer",
            "-fno-optimize-sibling-calls",
            directory / "shop.cc",
            "-o",
            program,
        ],
        check=True,
    )
    line = ("-x", program, "leaf", "-U", "--call-graph", "fp")
    full = {"shop::till<int>::take(int, long)": 6, "shop::till<int>::take(int*, char const*)": 5}

    def shown(*more):
        text = tally.without_styles(tally.at_terminal(*line, *more, "--", program, columns=120, tool="stackcount"))
        lines = re.finditer(r"^ *[\d.]+% +(?:[\d.]+% +)?(\d+)  +(shop::.*)$", text.split("functions,")[0], re.M)
        return sorted((line[2].removesuffix("  (shop)"), int(line[1])) for line in lines)

    assert shown() == [("shop::till<>::take", 5), ("shop::till<>::take", 6)] and shown("-v") == sorted(full.items())
    (report,) = [json.loads(each) for each in run(*line, "--json", "--", program, tool="stackcount").text.splitlines()]
    found = Counter()
    for stack in report["stacks"]:
        for frame in stack["frames"]:
            found[frame["name"]] += stack["value"] if str(frame["name"]).startswith("shop::") else 0
    assert +found == full, report
