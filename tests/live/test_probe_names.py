# SPDX-License-Identifier: BSD-2-Clause
"""Functions of C++ by the names their authors wrote, with and without debug information: each is called so often as
tests/triggers/names.cc says."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from probing import compile_trigger, counts_by, nothing_lost, report_of, stream_of
from tally import PATIENCE, ROOT, needs_dwarf

pytestmark = [pytest.mark.exact, pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")]

SOURCE = ROOT / "tests/triggers/names.cc"
INT, TEXT = "ns::K::m(int)", "ns::K::m(char const*, unsigned int)"
OVERLOADS = {INT: 3, TEXT: 6}
INSTANCES = {"ns::T<int>::m": 5, "ns::T<long>::m": 7}


@pytest.fixture(scope="module", params=("-g", "-g0"))
def program(request, tmp_path_factory):
    return compile_trigger(tmp_path_factory.mktemp("names"), SOURCE, "-O1", request.param, name="names",
                           compiler="g++")


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    return compile_trigger(tmp_path_factory.mktemp("names"), SOURCE, "-O1", "-g", name="names", compiler="g++")


RUST = """
struct T(u32);

trait Area<X> { fn area(&self, x: X) -> X; }

impl Area<u32> for T {
    #[inline(never)]
    fn area(&self, x: u32) -> u32 { self.0 + x }
}

#[inline(never)]
fn call<F: Fn(u32) -> u32>(f: F) -> u32 { f(1) + f(2) }

fn main() {
    let n = std::env::args().count() as u32;
    println!("{} {}", T(n).area(3), call(|x| { if x > n { println!("larger") } x + n }));
}
"""


def run(tool, program, *args, name="probe"):
    return tool("--json", "-x", program, *args, "--", program, tool=name, ready=False).wait()


NAMES = (
    ("ns::K::m", OVERLOADS),
    ("ns::K::m(int)", {"ns::K::m": 3}),
    ("ns::K::m(char const*,unsigned int)", {"ns::K::m": 6}),
    ("ns::K::only", {"ns::K::only": 12}),
    ("ns::K::*", {**OVERLOADS, "ns::K::only": 12, "ns::K::K": 3, "ns::K::~K": 3, "ns::K::operator()": 3,
                  "ns::K::operator+": 3}),
    ("ns::T::m", INSTANCES),
    ("ns::T<long>::m", {"ns::T<long>::m": 7}),
    ("ns::twice", {"ns::twice<int>": 1, "ns::twice<long>": 2}),
    ("(anonymous namespace)::hidden", {"(anonymous namespace)::hidden": 11}),
    ("plain(int)", {"plain": 13}),
    ("ns::K::K", {"ns::K::K": 3}),
    ("ns::K::operator()", {"ns::K::operator()": 3}),
    ("ns::K::operator+(int)", {"ns::K::operator+": 3}),
    ("ns::K::only,ns::T<int>::m", {"ns::K::only": 12, "ns::T<int>::m": 5}),
    ("ns::V::operator,(int)", {"ns::V::operator,": 4}),
    ("ns::V::operator,,ns::K::only", {"ns::V::operator,": 4, "ns::K::only": 12}),
    ("ns::V::operator/(int)", {"ns::V::operator/": 2}),
    ("ns::V::operator unsigned long()", {"ns::V::operator unsigned long": 2}),
    ("ns::V::operator new(unsigned long)", {"ns::V::operator new": 1}),
    ("main::{lambda(int, char)#1}::operator()(int, char)", {"main::{lambda(int, char)#1}::operator()": 2}),
    ("_ZN2ns1K1mEi", {"_ZN2ns1K1mEi": 3}),
)


@pytest.mark.parametrize("typed, wanted", NAMES)
def test_counts(tool, program, typed, wanted):
    report = report_of(run(tool, program, typed, "--by", "func"))
    assert counts_by(report, "func") == {f"names:{name}": n for name, n in wanted.items()} and nothing_lost(report)


def test_a_plain_name(tool, program):
    """A function in no namespace, whose symbol is _Z5plaini."""
    report = report_of(run(tool, program, "plain", "--count"))
    assert [row["count"] for row in report["rows"]] == [13]


def test_ends_and_times(tool, program):
    """Each end belongs to its begin, also of several functions of one name."""
    report = report_of(run(tool, program, "ns::K::m", "--latency", "--count", "--by", "func"))
    assert counts_by(report, "func") == {f"names:{name}": n for name, n in OVERLOADS.items()} and nothing_lost(report)
    got, _ = stream_of(run(tool, program, "ns::K::m(int)%return ret=(int)$retval"))
    assert [each["ret"] for each in got] == [100, 101, 102]


def test_arguments_by_number(tool, program):
    got, _ = stream_of(run(tool, program, "ns::K::m(int) base=+0($arg1):s32 n=$arg2:s32"))
    assert got == [{"base": 100, "n": n} for n in range(3)]


def test_other_tools(tool, program):
    stat = run(tool, program, "-e", "ns::K::m,ns::K::only", name="stat").reports[0]
    assert {row["event"]: row["count"] for row in stat["rows"]} == \
        {**{f"names:{name}": n for name, n in OVERLOADS.items()}, "names:ns::K::only": 12}
    stacks = run(tool, program, "ns::T::m", name="stackcount").reports[0]
    assert stacks["events"] == 12


def test_list(tool, program):
    """Names as nm has them, for patterns of any kind; the symbol is beside."""
    names = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    known = {
        line.split(None, 2)[2].removesuffix(" const") for line in names.splitlines() if " W " in line or " T " in line
    }
    for pattern, wanted in (("ns::K::m", {INT, TEXT}), ("ns::T::*", {"ns::T<int>::m(int)", "ns::T<long>::m(long)"}),
                            ("_ZN*2ns1K1m*", {INT, TEXT}), ("plain", {"plain(int)"})):
        found = tool("--json", "--functions", "-x", program, pattern, tool="list", ready=False).wait().reports[0]
        assert {row["function"] for row in found["rows"]} == wanted <= known, pattern
    row, = found["rows"]
    assert row["aliases"] == "_Z5plaini"


@pytest.mark.parametrize("name", ("probe", "stackcount", "funcgraph"))
def test_relative_paths(tool, program, name):
    """The first word that begins like a number is the interval, and a path does not."""
    path = os.path.relpath(program)
    for event in (f"./{path}:plain", f"../{pathlib.Path.cwd().name}/{path}:plain"):
        result = tool("-n", event, tool=name, ready=False).wait()
        assert result.code == 0, (event, result)


def test_each_listed_name_can_be_typed(tool, program):
    rows = tool("--json", "--functions", "-x", program, tool="list", ready=False).wait().reports[0]["rows"]
    names = [row["function"] for row in rows if row["function"].startswith(("ns::", "main::", "(anon", "plain"))]
    assert len(names) > 12
    for name in names:
        result = tool("-n", "-x", program, f"{name} $arg1", "-e", f"{program}:{name}%return", tool="probe",
                      ready=False).wait()
        assert result.code == 0, (name, result)


@pytest.mark.skipif(not shutil.which("rustc"), reason="there is no rustc")
def test_names_of_rust(tool, tmp_path):
    """One of each shape that list has can be typed."""
    (tmp_path / "names.rs").write_text(RUST)
    subprocess.run(["rustc", "-O", "names.rs"], cwd=tmp_path, check=True, timeout=PATIENCE)
    rows = tool("--json", "--functions", "-x", tmp_path / "names", tool="list", ready=False).wait().reports[0]["rows"]
    own = [row["function"] for row in rows if "names::" in row["function"]]
    assert any(" as names::Area" in name for name in own), own
    shapes = {re.sub(r"(\w+::)+\w+", "a", re.sub(r"\w+", "a", row["function"])): row["function"] for row in rows}
    for name in [*own, *list(shapes.values())[:40]]:
        result = tool("-n", "-x", tmp_path / "names", name, tool="probe", ready=False).wait()
        assert result.code == 0, (name, result)


@needs_dwarf
def test_debug_information(tool, described):
    """Members by name, lines, and source files."""
    got, _ = stream_of(run(tool, described, TEXT + " n base=this->base"))
    assert got == [{"n": n, "base": 100} for _ in range(3) for n in range(2)]
    for typed, n in (("ns::K::only:0", 12), ("ns::twice@names.cc", 3), ("ns::K::only;*only(long*", 12)):
        report = report_of(run(tool, described, typed, "--count"))
        assert [row["count"] for row in report["rows"]] == [n], typed


def test_methods_by_their_last_name(tool, described):
    """With debug information, m is each method of that name, and each has a row of its own."""
    wanted = {f"names:{name}": n for name, n in {**OVERLOADS, **INSTANCES}.items()}
    report = report_of(run(tool, described, "m", "--by", "func"))
    assert counts_by(report, "func") == wanted and nothing_lost(report)
    rows = report_of(run(tool, described, "m", "--latency", "--count", "--by", "func"))["rows"]
    assert {row["func"]: row["count"] for row in rows} == wanted
    report = report_of(run(tool, described, "m", "--count"))
    assert sum(row["count"] for row in report["rows"]) == sum(wanted.values())


WRONG = (
    ("ns::K::nope", "no function named 'ns::K::nope'"),
    ("ns::L::only", "there is ns::K::only(long)"),
    ("ns::K::only(int)", "there is ns::K::only(long)"),
    ("ns::K::only+0x1000", "ns::K::only"),
    ("::", "no function"),
)


@pytest.mark.parametrize("typed, wanted", WRONG)
def test_wrong(tool, described, typed, wanted):
    result = tool("-n", "-x", described, typed, tool="probe", ready=False).wait()
    assert result.code in (1, 2) and wanted in result.stderr, result


def test_no_program(tool):
    result = tool("-n", "ns::K::m", tool="probe", ready=False).wait()
    assert result.code == 2 and "-x to name the program" in result.stderr, result
