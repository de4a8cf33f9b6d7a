# SPDX-License-Identifier: BSD-2-Clause
"""funcgraph of Go: calls of one goroutine are never below those of another, in whatever threads they go on."""
import json
import platform
import shutil
import subprocess

import pytest

from probing import build_go
from tally import flaws
from test_attach import needs_kprobes
from test_funcgraph import calls, graph_of, times_add_up

pytestmark = [pytest.mark.exact, pytest.mark.skipif(not shutil.which("go"), reason="there is no go")]

GOROUTINES, CALLS = 100, 5
GETPPID = {"x86_64": "__x64_sys_getppid", "aarch64": "__arm64_sys_getppid"}[platform.machine()]

FUNCTIONS = """
package main

import (
	"runtime"
	"sync"
	"syscall"
)

//go:noinline
func leaf(n int) int {
	runtime.Gosched()
	return n + 1
}

//go:noinline
func left(n int) int {
	runtime.Gosched()
	sum := leaf(n)
	runtime.Gosched()
	return sum
}

// Its stack moves.
//
//go:noinline
func grow(n int) int {
	var room [3000]int
	room[n%3000] = n
	runtime.Gosched()
	return leaf(room[n%3000])
}

//go:noinline
func right(n int) int { return grow(n) + leaf(n) }

//go:noinline
func outer(n int) int {
	sum := left(n)
	runtime.Gosched()
	return sum + right(n)
}

//go:noinline
func quits(n int) {
	if leaf(n) >= 0 {
		runtime.Goexit()
	}
}

//go:noinline
func waits(n int, begun *sync.WaitGroup, never chan int) int {
	sum := leaf(n)
	begun.Done()
	return sum + <-never
}

//go:noinline
func asks(n int) int {
	sum := leaf(n) + syscall.Getppid()
	runtime.Gosched()
	return sum + syscall.Getppid()
}

func each(goroutines int, work func(i int)) {
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			work(i)
		}(i)
	}
	all.Wait()
}
"""
# Each program calls these functions, or the linker would drop them.
CALLED = {
    "outer": ("outer", "left", "right", "grow", "leaf"), "right": ("right", "grow", "leaf"),
    "quits": ("quits", "leaf"), "waits": ("waits", "leaf"),
}

# Each goroutine calls the whole tree.
TREE = """
	each(GOROUTINES, func(i int) {
		for n := 0; n < CALLS; n++ {
			outer(i)
		}
	})
"""
# Half of them end in a call, and others follow in their place.
QUITS = """
	each(2*GOROUTINES, func(i int) {
		if i%2 == 0 {
			quits(i)
		} else {
			right(i)
		}
	})
	each(GOROUTINES, func(i int) { right(i) })
"""
# The process ends while they are in calls.
WAITS = """
	var begun sync.WaitGroup
	begun.Add(GOROUTINES)
	never := make(chan int)
	for i := 0; i < GOROUTINES; i++ {
		go waits(i, &begun, never)
	}
	begun.Wait()
"""
# Another program is run meanwhile, by the same process.
EXEC = """
	if len(os.Args) == 1 {
		var begun sync.WaitGroup
		begun.Add(GOROUTINES)
		never := make(chan int)
		for i := 0; i < GOROUTINES; i++ {
			go waits(i, &begun, never)
		}
		begun.Wait()
		syscall.Exec(os.Args[0], []string{os.Args[0], "again"}, os.Environ())
	}
	each(GOROUTINES, func(i int) { right(i) })
"""

# They wait, and go on once it is told to.
RELEASED = """
	var begun, done sync.WaitGroup
	begun.Add(GOROUTINES)
	done.Add(GOROUTINES)
	never := make(chan int)
	for i := 0; i < GOROUTINES; i++ {
		go func(i int) {
			defer done.Done()
			waits(i, &begun, never)
			leaf(i)
		}(i)
	}
	begun.Wait()
	os.Stdout.WriteString("ready\\n")
	os.Stdin.Read(make([]byte, 1))
	close(never)
	done.Wait()
"""

# System calls, of which each has a goroutine's call around it.
ASKS = """
	each(GOROUTINES, func(i int) { asks(i) })
"""

RIGHT = {"right": 1, "right;grow": 1, "right;grow;leaf": 1, "right;leaf": 1}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    place, known = tmp_path_factory.mktemp("go"), {}

    def get(body):
        if body not in known:
            folder = place / str(len(known))
            folder.mkdir()
            text = FUNCTIONS + "\nfunc main() {" + body + "}\n"
            if "os." in body:
                text = text.replace("import (", 'import (\n\t"os"')
            (folder / "main.go").write_text(text.replace("GOROUTINES", str(GOROUTINES)).replace("CALLS", str(CALLS)))
            known[body] = build_go(folder)
        return known[body]

    return get


def times(n, paths):
    return {";".join(f"main.{name}" for name in path.split(";")): n * calls for path, calls in paths.items()}


@pytest.fixture
def graph(run, programs):
    """The report and its rows of a run of the whole program."""
    def measured(body):
        program = programs(body)
        names = {name for root, names in CALLED.items() if f"{root}(" in body for name in names}
        functions = ",".join(f"main.{name}" for name in sorted(names))
        return graph_of(run("-x", program, functions, "--json", "--", program, tool="funcgraph"))

    return measured


@pytest.mark.everywhere
def test_goroutines_that_yield(graph):
    report, rows = graph(TREE)
    assert calls(rows) == times(GOROUTINES * CALLS, {
        "outer": 1, "outer;left": 1, "outer;left;leaf": 1, **{f"outer;{path}": n for path, n in RIGHT.items()}})
    assert not any(flaws(report).values())
    times_add_up(rows)


def test_goroutines_that_end_in_a_call(graph):
    """Another one that gets the same structure in the runtime is not below that call."""
    report, rows = graph(QUITS)
    assert calls(rows) == {**times(2 * GOROUTINES, RIGHT), **times(GOROUTINES, {"quits": 0, "quits;leaf": 1})}
    lost = flaws(report)
    assert lost.pop("unwound") == GOROUTINES and not any(lost.values())


def test_goroutines_that_end_with_the_process(graph):
    report, rows = graph(WAITS)
    assert calls(rows) == times(GOROUTINES, {"waits": 0, "waits;leaf": 1})
    waits = rows["main.waits"]
    assert waits["unfinished"] == GOROUTINES and not any(flaws(report).values())
    assert 0 < waits["unfinished_ns"] <= GOROUTINES * report["duration_ns"]


def test_goroutines_that_end_with_an_exec(graph):
    """Goroutines of the new program have the same addresses as those of the old one."""
    report, rows = graph(EXEC)
    assert calls(rows) == {**times(GOROUTINES, {"waits": 0, "waits;leaf": 1}), **times(GOROUTINES, RIGHT)}
    assert rows["main.waits"]["unfinished"] == GOROUTINES and not any(flaws(report).values())


def test_processes_that_end_before_the_run(tool, programs):
    """Their goroutines have the same addresses, and are others; calls were open until their process ended."""
    program = programs(WAITS)
    tracer = tool("--json", "-x", program, "main.waits,main.leaf", tool="funcgraph")
    for _ in range(3):
        subprocess.run([program], check=True)
    report, rows = graph_of(tracer.stop())
    assert calls(rows) == times(3 * GOROUTINES, {"waits": 0, "waits;leaf": 1})
    assert rows["main.waits"]["unfinished"] == 3 * GOROUTINES and not any(flaws(report).values())


def test_intervals(run, programs):
    """Calls are in one interval each."""
    program = programs(TREE)
    ran = run("-x", program, "main.outer,main.leaf", "0.1", "--json", "--", program, tool="funcgraph")
    assert ran.code == 0, ran
    reports = [json.loads(line) for line in ran.text.splitlines()]
    got = {}
    for report in reports:
        for row in report["rows"]:
            got[row["path"]] = got.get(row["path"], 0) + row["calls"]
    assert got == times(GOROUTINES * CALLS, {"outer": 1, "outer;leaf": 3})


def test_calls_that_began_before_the_run(tool, programs):
    """They end in threads that are perhaps younger than the run."""
    program = programs(RELEASED)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
        assert load.stdout.readline() == b"ready\n"
        tracer = tool("--json", "-x", program, "main.waits,main.leaf", "-p", load.pid, tool="funcgraph")
        load.communicate(b"x")
    report, rows = graph_of(tracer.stop())
    assert calls(rows) == times(GOROUTINES, {"leaf": 1})
    assert report["begun_before"] == GOROUTINES and not any(flaws(report).values())


@needs_kprobes
def test_functions_of_the_kernel(run, programs):
    """Functions of the kernel are below the calls of the goroutine that is in them."""
    program = programs(ASKS)
    functions = f"{program}:main.asks,{program}:main.leaf"
    _, rows = graph_of(run(functions, GETPPID, "--json", "--", program, tool="funcgraph"))
    expected = {**times(GOROUTINES, {"asks": 1, "asks;leaf": 1}), f"main.asks;{GETPPID}": 2 * GOROUTINES}
    assert calls(rows) == expected
    times_add_up(rows)
