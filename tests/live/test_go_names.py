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

import (
	"io"
	"os"
	"program/far/from.it"
)

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

type both struct {
	io.Reader
	n int
}

func main() {
	if len(os.Args) > 1 {
		os.Stdin.Read(make([]byte, 1))
	}
	t, p, sum := &T{}, &Pair[int, []string]{}, 0
	for i := 0; i < CALLS; i++ {
		sum += t.m(i) + t.mm(i) + p.swap(i) + same(i) + same(struct{ X int }{i}).X + call(t.mm, i)
		sum += from.Far(i) + (&from.Server{}).Serve(i)
		call(func(n int) int { return n + sum }, i)
	}
	var one, other interface{} = struct {
		io.Reader
		n int
	}{nil, sum}, both{nil, sum}
	if sum < 0 || one == other {
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


def named_like(run, path, regex):
    """The only function whose name is so: what stands in the brackets differs between versions of Go."""
    found = [name for name in listed(run, path).values() if re.fullmatch(regex, name)]
    assert len(found) == 1, found
    return found[0]


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


def probed(run, program, event, *args):
    """{function: calls}"""
    report = run("-x", program, event, "--by", "func", *args, "--json", "--", program, tool="probe").report
    assert nothing_lost(report)
    return {row["func"].split(":", 1)[1].removesuffix("%return"): row["count"] for row in report["rows"]}


EXACT = (
    (r"main\.\(\*T\)\.m", CALLS), (r"main\.\(\*T\)\.mm-fm", CALLS), (r"main\.main\.func1", CALLS),
    (r"program/far/from.*\.Far", CALLS), (r"program/far/from.*\.\(\*Server\)\.Serve", CALLS),
    (r"main\.same\[go\.shape\.int\w*\]", CALLS), (r"main\.same\[go\.shape\.struct \{ X int \}\w*\]", CALLS),
    (r"main\.\(\*Pair\[go\.shape\.int.*,go\.shape\.\[\]string.*\]\)\.swap", CALLS),
)


@pytest.mark.parametrize("regex, calls", EXACT, ids=("method", "value", "closure", "dot", "path", "types", "struct",
                                                     "several"))
def test_a_name_is_no_glob_and_has_no_arguments(run, program, regex, calls):
    name = named_like(run, program, regex)
    assert probed(run, program, name) == {name: calls}
    assert probed(run, program, f"{name}%return") == {name: calls}
    assert probed(run, program, f"{name} n=$arg1") == {name: calls}
    assert probed(run, program, f"{program}:{name},{program}:main.call")[name] == calls
    report = run("-x", program, name, "--json", "--", program, tool="stackcount").report
    assert nothing_lost(report) and counted(report) == calls


@pytest.mark.parametrize("which", ("program", "stripped"))
def test_each_listed_name_can_be_typed(run, request, which):
    """One of each shape."""
    path, shapes = request.getfixturevalue(which), {}
    for name in listed(run, path).values():
        shapes.setdefault(re.sub(r"(\w+[./])+\w+", "a", re.sub(r"\w+", "a", name)), name)
    assert len(shapes) > 7
    for name in shapes.values():
        if "(.text)" in name:
            continue                    # begins where a function of C does
        result = run("-n", "-x", path, name, tool="probe")
        assert result.code == 0, (name, result)


def test_the_name_of_a_generic_function(run, program):
    """As the runtime prints it, it means the instances."""
    names = set(probed(run, program, "main.same[...]"))
    assert len(names) == 2 and {without_types(name) for name in names} == {"main.same[...]"}
    assert len(probed(run, program, "main.(*Pair[...]).swap")) == 1


def test_globs(run, program):
    assert probed(run, program, "main.*T?.m") == {"main.(*T).m": CALLS}
    assert probed(run, program, "main.(*T).*")["main.(*T).mm"] == 2 * CALLS


def test_a_name_that_is_not_there(run, program):
    result = run("-x", program, "main.(*T).mn", tool="probe")
    assert result.code == 1 and "did you mean main.(*T).m?" in result.stderr, result


def test_what_processes_have_mapped(run, program):
    name = named_like(run, program, r"program/far/from.*\.\(\*Server\)\.Serve")
    with subprocess.Popen([program, "wait"], stdin=subprocess.PIPE) as waiting:
        try:
            result = run("-n", "-p", waiting.pid, "-e", name, "-e", "main.(*T).mm-fm", tool="probe")
            assert result.code == 0 and name in result.text, result
        finally:
            waiting.stdin.close()


def test_listing(run, program):
    name = named_like(run, program, r"main\.same\[go\.shape\.int\w*\]")
    rows = run("--functions", name, "-x", program, "--json", tool="list").report["rows"]
    assert [row["function"] for row in rows] == [name]


def test_a_zero_of_a_name_is_no_zero_of_a_glob(run, program):
    """stat leaves out what matches a glob and did not happen."""
    events = "errors.(*errorString).Error,main.call"
    report = run("-x", program, "-e", events, "--json", "--", program, tool="stat").report
    assert [row["count"] for row in report["rows"]] == [0, 2 * CALLS]
