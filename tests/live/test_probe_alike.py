# SPDX-License-Identifier: BSD-2-Clause
"""Rows by func: one for each function, however many instructions end it and wherever it is inlined. Functions that
share a name have rows of their own, with names that distinguish them."""

import json
import re
import shutil
import subprocess

import pytest

from probing import nothing_lost, report_of
from tally import PATIENCE, needs_dwarf
from test_funcgraph import calls, graph_of

pytestmark = pytest.mark.exact

ONE = """
static __attribute__((noinline)) int hidden(int n) { __asm__ volatile("" : : "r"(n)); return n + 1; }
int one(int n) { return hidden(n) * 2; }
"""
MANY = """
#define BARRIER(n) __asm__ volatile(n : : : "memory")

int one(int n);

static inline __attribute__((always_inline)) int inlined(int n) { BARRIER("nop"); return n + 1; }
static __attribute__((noinline)) int hidden(int n) { __asm__ volatile("nop" : : "r"(n)); return n + 3; }

__attribute__((noinline)) int several_ends(int n)
{
	if (n % 3 == 0) {
		BARRIER("nop; nop");
		return 1;
	}
	if (n % 3 == 1) {
		BARRIER("nop; nop; nop");
		return 2;
	}
	BARRIER("");
	return 3;
}

__attribute__((noinline)) int caller(int n)
{
	int sum = inlined(n);

	BARRIER("nop");
	return inlined(sum);
}

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < 40; i++)
		sum += one(i);
	for (i = 0; i < 60; i++)
		sum += hidden(i);
	for (i = 0; i < 90; i++)
		sum += several_ends(i);
	for (i = 0; i < 5; i++)
		sum += caller(i);
	return sum == 0;
}
"""


METHODS = """
namespace ns {
struct K {
	int v;

	__attribute__((always_inline)) int in(int n) { __asm__ volatile("nop"); return n + v; }
	__attribute__((noinline)) int m(int n) { return in(n) * 3; }
	__attribute__((noinline)) int m(long n) { return in(n) * 5; }
};
template <class T> struct W {
	__attribute__((noinline)) int go(T t) { K k{1}; return k.in(t); }
};
}

int main()
{
	ns::K k{3};
	ns::W<int> w;
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += k.m(i);
	for (long i = 0; i < 20; i++)
		sum += k.m(i);
	for (int i = 0; i < 5; i++)
		sum += w.go(i);
	return sum == 0;
}
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    def build(*flags):
        directory = tmp_path_factory.mktemp("alike")
        for name, text in (("one.c", ONE), ("many.c", MANY)):
            (directory / name).write_text(text)
        subprocess.run(["gcc", "-O2", *flags, "one.c", "many.c", "-o", "alike"], cwd=directory, check=True,
                       timeout=PATIENCE)
        return directory / "alike"
    return build


@pytest.fixture(scope="module")
def plain(build):
    return build("-g0")


@pytest.fixture(scope="module")
def described(build):
    return build("-g")


def measure(tool, program, *args):
    return report_of(tool("--json", "-x", program, *args, "--", program, tool="probe", ready=False).wait())


def rows_of(tool, program, *args):
    """(func, count) of each row."""
    report = measure(tool, program, *args)
    assert nothing_lost(report)
    return sorted((row["func"].removeprefix("alike:"), row["count"]) for row in report["rows"])


def addresses(program):
    """Where the functions called hidden begin, in the order of the files."""
    symbols = subprocess.run(["nm", "-n", program], capture_output=True, text=True, check=True).stdout
    return [int(at, 16) for at in re.findall("^([0-9a-f]+) t hidden$", symbols, re.M)]


def test_ends_of_a_function(tool, plain):
    """Three instructions end it."""
    for args in (), ("--sum", "$retval"):
        assert rows_of(tool, plain, "several_ends%return", "--by", "func", *args) == [("several_ends%return", 90)]


@needs_dwarf
def test_copies_of_an_inlined_function(tool, described):
    assert rows_of(tool, described, "inlined", "--by", "func") == [("inlined (inlined into caller)", 10)]


@needs_dwarf
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
def test_functions_that_contain_copies(tool, run, tmp_path):
    """They have the names of their source."""
    source, program = tmp_path / "methods.cc", tmp_path / "alike"
    source.write_text(METHODS)
    subprocess.run(["g++", "-O2", "-g", source, "-o", program], check=True, timeout=PATIENCE)
    wanted = {"ns::K::m(int)": 10, "ns::K::m(long)": 20, "ns::W<int>::go": 5}
    for name in "in", "ns::K::in":
        assert rows_of(tool, program, name, "--by", "func") == sorted(
            (f"{name} (inlined into {container})", n) for container, n in wanted.items())
    listed = json.loads(run("--json", "--vars", "in", "-x", program, tool="list").stdout)
    notes = {row["note"] for row in listed["rows"]}
    assert notes == {f"inlined into {name}" for name in ("ns::K::m(int)", "ns::K::m(long)", "ns::W<int>::go(int)")}


CALLS = (("hidden", ()), ("hidden", ("--latency", "--count")), ("hidden%return", ()))


@needs_dwarf
@pytest.mark.parametrize("event, args", CALLS)
def test_sources_distinguish_functions(tool, described, event, args):
    behind = event.removeprefix("hidden")
    wanted = [("hidden@many.c" + behind, 60), ("hidden@one.c" + behind, 40)]
    assert rows_of(tool, described, event, *args, "--by", "func") == wanted
    for typed, n in wanted:
        report = measure(tool, described, typed, *args, "--count")
        assert [row["count"] for row in report["rows"]] == [n], typed


@needs_dwarf
def test_their_arguments(tool, described):
    """The first argument counts up in either."""
    for event in "hidden", "hidden%return":
        behind = event.removeprefix("hidden")
        wanted = [(name + behind, 1) for name, n in (("hidden@many.c", 60), ("hidden@one.c", 40)) for i in range(n)]
        assert rows_of(tool, described, event, "--by", "func,n") == wanted


@pytest.mark.parametrize("event, args", CALLS)
def test_addresses_distinguish_functions(tool, plain, event, args):
    one, many = addresses(plain)
    behind = event.removeprefix("hidden")
    assert rows_of(tool, plain, event, *args, "--by", "func") == sorted([
        (f"hidden (0x{one:x}){behind}", 40), (f"hidden (0x{many:x}){behind}", 60)])


def test_functions_of_a_glob(tool, plain):
    one, many = addresses(plain)
    assert rows_of(tool, plain, "[hs]*den*", "--by", "func") == sorted([
        (f"hidden (0x{one:x})", 40), (f"hidden (0x{many:x})", 60)])


def paths_of(tool, program):
    _, rows = graph_of(tool("--json", "-x", program, "hidden", "--", program, tool="funcgraph", ready=False).wait())
    return calls(rows)


def test_paths_of_calls(tool, plain):
    one, many = addresses(plain)
    assert paths_of(tool, plain) == {f"hidden (0x{one:x})": 40, f"hidden (0x{many:x})": 60}


@needs_dwarf
def test_paths_of_described_calls(tool, described):
    assert paths_of(tool, described) == {"hidden@one.c": 40, "hidden@many.c": 60}
