# SPDX-License-Identifier: BSD-2-Clause
"""probe on source lines named by their text, and on functions of a source file."""

import shutil
import subprocess

import pytest

from probing import compile_trigger, counts_by, measure_each, nothing_lost
from tally import GUEST, ROOT, Trigger, needs_dwarf

pytestmark = [pytest.mark.skipif(bool(GUEST), reason="compilers are slow in an emulated machine")]

SOURCE = ROOT / "tests/triggers/arguments.c"
TRIGGERS = ROOT / "tests/triggers"
HEADER = ROOT / "tests/triggers/trigger.h"


@pytest.fixture
def program(tmp_path):
    """A program whose source is where its debug information says, for as long as the test leaves it there."""
    for path in (SOURCE, HEADER):
        shutil.copy(path, tmp_path)
    return compile_trigger(tmp_path, tmp_path / "arguments.c", "-D_GNU_SOURCE", "-O2", "-g")


def lines_like(function, looks):
    """The numbers of the lines of a function with this text, counted from its first line."""
    lines = SOURCE.read_text().splitlines()
    first = next(i for i, line in enumerate(lines)
                 if line.startswith("NOINLINE") and f" {function}(" in line)
    end = lines.index("}", first)
    return [i - first for i in range(first, end) if looks(lines[i].strip())]


@needs_dwarf
@pytest.mark.parametrize("pattern, looks", (
    ("sink=squared;", lambda line: line == "sink = squared;"),
    ("sink=*", lambda line: line.startswith("sink =")),
    ("?ink=squared+[mn];", lambda line: line == "sink = squared + n;"),
))
def test_lines_by_their_text(ends, program, pattern, looks):
    """Each execution of each of these lines counts, as it does by their numbers."""
    load = Trigger(program, 7)
    ends.callback(load.close)
    report, = measure_each(ends, load, [("-x", program, f"with_locals;{pattern}", "--by", "func")])
    numbers = lines_like("with_locals", looks)
    assert numbers and counts_by(report, "func") == \
        {f"compiled:with_locals:{n}": 7 for n in numbers}


@needs_dwarf
def test_variables_there(ends, program):
    load = Trigger(program, 5)
    ends.callback(load.close)
    report, = measure_each(ends, load, [("-x", program, "with_locals;sink=squared+n;", "--by", "squared")])
    assert counts_by(report, "squared") == {i * i: 1 for i in range(5)}


@needs_dwarf
@pytest.mark.parametrize("event, name, n", (("many@arguments.c", "many", 5),
                                            ("many@arguments.c%return", "many%return", 5),
                                            ("with_locals@arguments.c;sink=squared;", "with_locals:5", 5)))
def test_functions_of_a_file(ends, program, event, name, n):
    load = Trigger(program, 5)
    ends.callback(load.close)
    report, = measure_each(ends, load, [("-x", program, event, "--by", "func")])
    assert counts_by(report, "func") == {f"compiled:{name}": n}


@needs_dwarf
@pytest.mark.parametrize("event, said, hint", (
    ("many@other.c", "many is not defined in 'other.c'", "it is defined in "),
    ("many@rguments.c", "many is not defined in 'rguments.c'", "arguments.c"),
    ("with_locals;squared", "no line with code in with_locals matches 'squared'", "the whole line"),
    ("with_locals@", "a source file must follow the '@'", ""),
    ("with_locals;", "a pattern for the line must follow the ';'", ""),
    ("with_locals@arguments.c%back", "only %return can follow", ""),
    ("nothing;sink=*", "no function named 'nothing'", ""),
))
def test_mistakes(run, program, event, said, hint):
    result = run("-n", "-x", program, event, tool="probe")
    assert result.code and said in result.stderr and hint in result.stderr, result


@needs_dwarf
def test_without_the_source(run, program):
    """The message says what is missing; a line is still found by its number."""
    source = program.parent / "arguments.c"
    source.unlink()
    result = run("-n", "-x", program, "with_locals;sink=*", tool="probe")
    assert result.code and f"the source of with_locals is missing: {source}" in result.stderr, result
    assert run("-n", "-x", program, "with_locals:5", tool="probe").code == 0
    # Nothing but a file is taken for the source.
    source.mkdir()
    result = run("-n", "-x", program, "with_locals;sink=*", tool="probe")
    assert f"the source of with_locals is missing: {source}" in result.stderr, result


def test_without_debug_information(run, program):
    subprocess.run(["strip", "-g", program], check=True)
    for event in ("many@arguments.c", "with_locals;sink=*"):
        result = run("-n", "-x", program, event, tool="probe")
        assert result.code == 4 and "need debug information" in result.stderr, result


# --- variables ------------------------------------------------------------------------------------------

HOLDER = """
static volatile long sink;
static inline __attribute__((always_inline)) long inner(long number)
{
	long squared = number * number;
	sink = squared;
	return squared + 1;
}
__attribute__((noinline)) long holder(long start, long stop)
{
	long total = start;
	total += inner(stop);
	sink = total;
	return total;
}
int main(int argc, char **argv) { return holder(argc, 2) < 0; }
"""


@needs_dwarf
@pytest.mark.parametrize("level", ("-O0", "-O2"))
def test_list_has_the_variables_of_the_function_that_is_named(run, tmp_path, level):
    """Also at an address where the code of an inlined function begins: probe takes the same variables there."""
    source = tmp_path / "holder.c"
    source.write_text(HOLDER)
    path = compile_trigger(tmp_path, source, "-g", level)
    for spot, names in (("holder:2", {"start", "stop", "total"}), ("holder:3", {"start", "stop", "total"}),
                        ("holder", {"start", "stop", "total"}), ("inner", {"number", "squared"})):
        found = run("--json", "--vars", spot, "-x", path, tool="list").report["rows"]
        assert {row["name"] for row in found} == names, (spot, found)
        for row in found if ":" in spot else ():
            if row["where"] != "not here":
                probed = run("-x", path, spot, "--count", "--by", row["name"], "--", path, tool="probe")
                assert probed.code == 0, (spot, row, probed)


# --- copies that the compiler makes of inlined functions ----------------------------------------------

UNTOLD = "inlined: copies in unrolled loops"


@needs_dwarf
@pytest.mark.parametrize("dwarf", (4, 5))
@pytest.mark.parametrize("compiler, options", [
    ("gcc", ("-O3", "-funroll-loops")), ("gcc", ("-O2",)), ("gcc", ("-O0",)),
    ("clang", ("-O3", "-funroll-loops")), ("clang", ("-O2",)),
])
def test_inlined_functions_in_unrolled_loops(ends, tmp_path, compiler, options, dwarf):
    """One entry of the debug information has many copies. All that gcc made are found; where clang's copies cannot be
    told from the rounds of a loop, the report says so."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    path = compile_trigger(tmp_path, TRIGGERS / "unrolled.c", *options, "-g", f"-gdwarf-{dwarf}", "-w",
                           "-D_GNU_SOURCE", f"-I{TRIGGERS}", compiler=compiler)
    n = 103
    calls = {"step": 4 + n + 3 * n, "inner": 6 * n, "outer": 3 * n, "whose_loop": n, "plain": 2}
    load = Trigger(path, n)
    ends.callback(load.close)
    reports = measure_each(ends, load, [("-x", path, name) for name in calls])
    for (name, wanted), report in zip(calls.items(), reports):
        told, counted = UNTOLD in report["source"], report["events"]
        assert nothing_lost(report) and (counted == wanted or told and counted < wanted), (name, wanted, report)
        assert not told or (compiler == "clang" and name != "plain"), report["source"]
