# SPDX-License-Identifier: BSD-2-Clause
"""Names of Go functions in events, as the symbol table has them, or the table of the runtime in stripped programs."""
import re
import shutil
import subprocess

import pytest

from probing import build_go, nothing_lost
from tally import once

pytestmark = [once, pytest.mark.exact, pytest.mark.skipif(not shutil.which("go"), reason="there is no go")]

CALLS = 20

MAIN = """
package main

import "program/far/from.it"

type T struct{ n int }

type Pair[A, B any] struct {
	a A
	b B
}

//go:noinline
func (t *T) m(a int) int { return t.n + a }

//go:noinline
func (t *T) mm(a int) int { return t.n + a }

//go:noinline
func (p *Pair[A, B]) swap(a A) A {
	old := p.a
	p.a = a
	return old
}

//go:noinline
func same[X any](x X) X { return x }

//go:noinline
func call(f func(int) int, n int) int { return f(n) }

func main() {
	t, p, sum := &T{}, &Pair[int, []string]{}, 0
	for i := 0; i < CALLS; i++ {
		sum += t.m(i) + t.mm(i) + p.swap(i) + same(i) + same(struct{ X int }{i}).X + call(t.mm, i)
		sum += from.Far(i) + (&from.Server{}).Serve(i)
		call(func(n int) int { return n + sum }, i)
	}
	if sum < 0 {
		panic(sum)
	}
}
"""
FAR = """
package from

type Server struct{ n int }

//go:noinline
func Far(n int) int { return n + 1 }

//go:noinline
func (s *Server) Serve(n int) int { return n + s.n }
"""


def build(place, *flags):
    (place / "far" / "from.it").mkdir(parents=True)
    (place / "far" / "from.it" / "far.go").write_text(FAR)
    (place / "main.go").write_text(MAIN.replace("CALLS", str(CALLS)))
    return build_go(place, *flags)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="module")
def stripped(tmp_path_factory):
    return build(tmp_path_factory.mktemp("stripped"), "-ldflags=-s")


def listed(run, path):
    """{address: name}"""
    rows = run("--functions", "-x", path, "--json", tool="list").report["rows"]
    return {row["address"]: row["function"] for row in rows}


def without_types(name):
    """As the runtime's table has it: what a generic function is compiled for is left out."""
    return re.sub(r"\[.*\]", "[...]", name)


def counted(report):
    if "stacks" in report:
        return sum(stack["value"] for stack in report["stacks"])
    return sum(row["count"] for row in report["rows"])


def test_a_stripped_program_has_the_names_of_its_runtime(run, program, stripped):
    named, told = listed(run, program), listed(run, stripped)
    assert {name for name in told.values() if name.startswith("main.")} == \
        {without_types(name) for name in named.values() if name.startswith("main.")}
    both = named.keys() & told.keys()
    assert len(both) > 0.95 * len(named)
    # Two of one name are told apart; one that is alone does not say by which ABI it is called.
    twice, all_told = {name for name in told.values() if name.endswith(".abi0")}, set(told.values())
    assert twice and twice <= set(named.values()) and {name.removesuffix(".abi0") for name in twice} <= all_told


@pytest.mark.parametrize("event, calls", (("main.*T?.m", CALLS), ("main.call", 2 * CALLS),
                                          ("main.call%return", 2 * CALLS)))
@pytest.mark.parametrize("tool", ("probe", "stackcount"))
def test_functions_of_a_stripped_program(run, stripped, tool, event, calls):
    report = run("-x", stripped, event, "--json", "--", stripped, tool=tool).report
    assert nothing_lost(report)
    assert counted(report) == calls
