# SPDX-License-Identifier: BSD-2-Clause
"""Source lines of Go programs, whose debug information does not say where functions begin."""
import re
import shutil
import subprocess

import pytest

from probing import build_go, nothing_lost
from tally import needs_dwarf, once

pytestmark = [once, pytest.mark.exact, needs_dwarf, pytest.mark.skipif(not shutil.which("go"), reason="there is no go")]

CALLS = 20

MAIN = """
package main

var sink int

//go:noinline
func mark(n int) {
	sink += n
}

//go:noinline
func steps(n int) {             // begins
	mark(1)                     // all
	if n%2 == 0 {
		mark(2)                 // even
	}
	for i := 0; i < 3; i++ {
		mark(3)                 // thrice
	}
	inner(n)
	mark(4)                     // last
}

func inner(n int) {             // inner begins
	if n >= 15 {
		mark(5)                 // few
	}
}

//go:noinline
func grow(n int) int {          // grow begins
	var room [3000]int
	mark(room[n%3000])          // grown
	return room[n%3000] + 1
}

type number struct{ n int }

//go:noinline
func (v *number) add(n int) {   // add begins
	mark(v.n)                   // added
}

func main() {
	done := make(chan int)
	v := &number{1}
	for i := 0; i < CALLS; i++ {
		go func(n int) {
			mark(6)             // closure
			steps(n)
			done <- grow(n)
		}(i)
		<-done
		v.add(i)
	}
}
""".replace("CALLS", str(CALLS))

# The line: its function, the line on which that begins, and how often it is reached.
REACHED = {
    "all": ("main.steps", "begins", CALLS), "even": ("main.steps", "begins", CALLS // 2),
    "thrice": ("main.steps", "begins", 3 * CALLS), "last": ("main.steps", "begins", CALLS),
    "grow begins": ("main.grow", "grow begins", CALLS), "grown": ("main.grow", "grow begins", CALLS),
    "added": ("main.*number?.add", "add begins", CALLS),
}


def number_of(mark):
    return next(n for n, line in enumerate(MAIN.splitlines(), 1) if line.endswith(f"// {mark}"))


@pytest.fixture(scope="module", params=("", "-gcflags=-N -l", "-buildmode=pie"))
def program(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("go")
    (place / "main.go").write_text(MAIN)
    return build_go(place, *([request.param] if request.param else []))


def lines_of(run, program, function):
    """{number of the line: its row}"""
    rows = run("--lines", function, "-x", program, "--json", tool="list").report["rows"]
    assert len({row["line"] for row in rows}) == len(rows)
    return {row["line"]: row for row in rows}


def statements(program):
    """{address: lines of statements that begin there}, as readelf has them."""
    text = subprocess.run(["readelf", "--debug-dump=decodedline", program], capture_output=True, text=True,
                          check=False).stdout
    found = {}
    for line, address in re.findall(r"^\S+ +(\d+) +0x([0-9a-f]+) .*x$", text, re.M):
        found.setdefault(int(address, 16), set()).add(int(line))
    return found


def disassembled(program, function):
    """{address: line}, as `go tool objdump` has the function."""
    text = subprocess.run(["go", "tool", "objdump", "-s", f"^{re.escape(function)}$", program], capture_output=True,
                          text=True, check=True).stdout
    found = re.findall(r"^  main\.go:(\d+)\s+0x([0-9a-f]+)", text, re.M)
    return {int(address, 16): int(line) for line, address in found}


@pytest.mark.parametrize("function", ("main.steps", "main.grow", "main.mark", "main.main", "main.main.func1",
                                      "main.(*number).add"))
def test_lines_are_those_of_the_toolchain(run, program, function):
    listed = lines_of(run, program, function)
    known, there = disassembled(program, function), statements(program)
    assert listed
    if not known:
        pytest.skip("go tool objdump has no lines of position-independent programs")
    for line, row in listed.items():
        address = int(row["address"], 16) if isinstance(row["address"], str) else row["address"]
        assert known[address] == line and line in there[address], row
        assert row["path"] == str(program.parent / "main.go")
    # All statements that are no inlined function's.
    own = {line for address in known for line in there.get(address, ()) if line == known[address]}
    inlined = set(range(number_of("inner begins"), number_of("few") + 3))
    assert set(listed) == own - inlined


@pytest.mark.parametrize("mark", REACHED)
def test_hits_are_those_of_the_program(run, program, mark):
    """By the number from the function's first line; also where its stack has been made larger meanwhile."""
    function, begins, hits = REACHED[mark]
    event = f"{function}:{number_of(mark) - number_of(begins)}"
    assert lines_of(run, program, function)[number_of(mark)]["probe"].endswith(event[-3:])
    report = run("-x", program, event, "--json", "--", program, tool="probe").report
    assert nothing_lost(report) and report["events"] == hits, report


def test_lines_of_inlined_functions(run, program):
    """Where no code of its own says on which line it begins, its first line with code is 0."""
    row = lines_of(run, program, "main.inner")[number_of("few")]
    report = run("-x", program, row["probe"], "--json", "--", program, tool="probe").report
    assert nothing_lost(report) and report["events"] == CALLS - 15, (row, report)


@pytest.mark.parametrize("event, hits", (("main.steps@main.go", CALLS), ("main.steps;mark(4)*", CALLS)))
def test_functions_of_a_file(run, program, event, hits):
    report = run("-x", program, event, "--json", "--", program, tool="probe").report
    assert nothing_lost(report) and report["events"] == hits, report


@pytest.mark.parametrize("event", ("main.inner", "main.inner@main.go"))
def test_calls_of_inlined_functions(run, program, event):
    """Also where the compiler has put instructions of theirs on one of the ways that lead there."""
    report = run("-x", program, event, "--json", "--", program, tool="probe").report
    assert nothing_lost(report) and report["events"] == CALLS, report


def test_a_function_of_another_file(run, program):
    result = run("-n", "-x", program, "main.inner@other.go", tool="probe")
    assert result.code and "it is defined in " in result.stderr and "main.go" in result.stderr, result
