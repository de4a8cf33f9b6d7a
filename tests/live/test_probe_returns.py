# SPDX-License-Identifier: BSD-2-Clause
"""probe on returns of functions, with the arguments of the same call: saved at its entry, if they are asked for."""

import json
import re

import pytest

import tally
from probing import Probe, alike, binary, counts_by, measure, nothing_lost, stream
from tally import count, needs_dwarf, scaled

RETURNS, ARGUMENTS, SPANS, THROWS = binary("returns"), binary("arguments"), binary("spans"), binary("throws")

pytestmark = pytest.mark.exact


@needs_dwarf
def test_arguments_of_the_call(tool, trigger):
    """In registers, on the stack, texts; by name and by number."""
    n = scaled(100)
    got, report = stream(tool, trigger("arguments", n), "-x", ARGUMENTS, "many%return a b c d e g h ret=$retval")
    assert got == [{"a": i, "b": -i, "c": "text", "d": i & 255, "e": -i, "g": 7 * i, "h": -8 * i, "ret": 3 - i}
                   for i in range(n)]
    assert nothing_lost(report) and report["filtered"] == 0
    assert "; arguments saved by " in report["source"]
    got, report = stream(tool, trigger("arguments", n), "-x", ARGUMENTS,
                         "many%return a=$arg1 b=$arg2 c=$arg3:string f=arg6 h=$arg8:s32 ret=$retval")
    assert got == [{"a": i, "b": -i, "c": "text", "f": 2 ** 40 + i, "h": -8 * i, "ret": 3 - i} for i in range(n)]
    assert nothing_lost(report)


@needs_dwarf
def test_what_pointers_lead_to_is_read_at_the_return(tool, trigger):
    """The function fills the structure: with --latency, which reads at the entry, it is empty."""
    n = scaled(100)
    got, report = stream(tool, trigger("returns", n), "-x", RETURNS, "fill%return box->number box->name i ret=$retval")
    assert got == [{"number": 2 * i, "name": f"box {i}", "i": i, "ret": -i} for i in range(n)]
    assert nothing_lost(report)
    got, _ = stream(tool, trigger("returns", n), "-x", RETURNS, "fill box->number i", "--latency")
    assert got == [{"number": 0, "i": i} for i in range(n)]
    report = measure(tool, trigger("returns", n), "-x", RETURNS, "fill%return", "--by", "*box")
    assert counts_by(report, "*box") == {f'{{.number={2 * i}, .name="box {i}"}}': 1 for i in range(n)}


@needs_dwarf
def test_arguments_whose_places_are_used_again(tool, trigger):
    """The registers have other values at the return."""
    n = scaled(100)
    got, report = stream(tool, trigger("returns", n), "-x", RETURNS, "reuse%return a b text first=$arg1 ret=$retval")
    assert got == [{"a": i, "b": -i, "text": "text", "first": i, "ret": 3 * i} for i in range(n)]
    assert nothing_lost(report)


@needs_dwarf
@pytest.mark.parametrize("n, threads, depth", ((1, 1, 60), (20, 1, 5), (40, 2, 9)))
def test_recursion(tool, trigger, n, threads, depth):
    """A call that another one of the same function is within has its own arguments: the result is the argument."""
    report = measure(tool, trigger("spans", "nested", n, threads, depth), "-x", SPANS, "recursive%return", "--by",
                     "left,ret=$retval")
    assert counts_by(report, "left", "ret") == {(i, i): n * threads for i in range(depth + 1)}
    assert nothing_lost(report)


@needs_dwarf
def test_jumps_to_another_function(tool, trigger):
    """first(i) ends by a jump to second(), whose result is its own."""
    n = scaled(100)
    report = measure(tool, trigger("spans", "tail", n, 2), "-x", SPANS, "first%return", "--by", "i,ret=$retval")
    assert counts_by(report, "i", "ret") == {(i, i + 3): 2 for i in range(n)} and nothing_lost(report)


@needs_dwarf
def test_calls_that_never_return_are_no_losses(tool, trigger):
    """Left by longjmp(), by an exception or with the thread: nothing is counted without arguments either."""
    n = scaled(300)
    report = measure(tool, trigger("spans", "jump", n, 2), "-x", SPANS, "jumping%return", "--by", "i")
    assert counts_by(report, "i") == {i: 2 for i in range(n) if i % 3 != 2}
    assert nothing_lost(report) and report["filtered"] == 0
    report = measure(tool, trigger("spans", "exit", n, 1), "-x", SPANS, "leaving%return", "--by", "i")
    assert counts_by(report, "i") == {i: 1 for i in range(0, n, 2)} and nothing_lost(report)


@needs_dwarf
@pytest.mark.skipif(not tally.takes_code_apart(), reason="built without capstone")
@pytest.mark.parametrize("name", ("middle", "cleaner", "jumper"))
def test_exceptions_pass(tool, trigger, name):
    n = scaled(100)
    report = measure(tool, trigger("throws", n), "-x", THROWS, f"{name}%return", "--by", "arg1")
    assert counts_by(report, "arg1") == {i: 1 for i in range(0, n, 2)} and nothing_lost(report)


@needs_dwarf
@pytest.mark.parametrize("filter", ((), ("--filter", "thread >= 0")))
def test_calls_that_began_before(tool, trigger, filter):
    """Their arguments are not known: they are lost, and no other call's are taken for them."""
    report = measure(tool, trigger("returns", 1), "-x", RETURNS, "waiting%return", "--by", "thread,waits,ret=$retval",
                     *filter)
    assert counts_by(report, "thread", "waits", "ret") == {(10, 0, 10): 1, (11, 0, 11): 1}
    assert report["lost"].pop("unmatched") == 2 and nothing_lost(report)


@needs_dwarf
def test_nothing_is_saved_where_nothing_is_asked_for(tool, run, trigger):
    """All returns count then, those of calls that began before, too; and the entry is not probed."""
    report = measure(tool, trigger("returns", 1), "-x", RETURNS, "waiting%return", "--by", "ret=$retval")
    assert counts_by(report, "ret") == {i: 1 for i in (0, 1, 10, 11)} and nothing_lost(report)
    assert "saved" not in report["source"]
    for args, saves in ((("many%return $retval comm",), False), (("many%return a", "--count"), False),
                        (("many%return a", "--count", "--filter", "$retval < 9"), False),
                        (("many%return first=a", "--count", "--by", "first"), True),
                        (("many%return", "--count", "--filter", "$retval < 9 && b < 2"), True)):
        sites = run("-n", "-x", ARGUMENTS, *args, tool="probe").text
        assert bool(re.search(r"^ *site +\S*:many, ", sites, re.M)) == saves, (args, sites)


@needs_dwarf
def test_filters_and_values(tool, trigger):
    """Arguments and results in one filter, and in one value; the rest is filtered, exactly."""
    n = 20
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "many%return", "--by", "a", "--filter",
                     "(b < -4 && $retval > -7) || c !~ \"t*\" || a + $retval == 4 || g == 105")
    kept = [i for i in range(n) if 4 < i < 10 or i == 15]
    assert counts_by(report, "a") == {i: 1 for i in kept} and nothing_lost(report)
    assert report["filtered"] == n - len(kept)
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "many%return", "--sum", "h - $retval", "--max",
                     "h - $retval")
    row, = report["rows"]
    assert (row["count"], row["sum"], row["max"]) == (n, sum(-8 * i - 3 + i for i in range(n)), -3)
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "many%return", "--hist", "a")
    group, = report["groups"]
    assert (group["count"], group["sum"], group["min"], group["max"]) == (n, sum(range(n)), 0, n - 1)


@needs_dwarf
def test_several_functions(tool, trigger):
    """A name that is an argument of each, of other types; each under its own name, as returns always are."""
    n = 10
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "with_locals%return", "many%return", "--by",
                     "func,first=arg1")
    assert counts_by(report, "func", "first") == \
        {(f"arguments:{name}%return", i): 1 for name in ("many", "with_locals") for i in range(n)}
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "many%return x=b y=h",
                     "with_locals%return x=n y=arg1", "--by", "x,y")
    assert counts_by(report, "event", "x", "y") == {
        **{("many%return", -i, -8 * i): 1 for i in range(n)}, **{("with_locals%return", i, i): 1 for i in range(n)}}
    report = measure(tool, trigger("arguments", n), "-x", ARGUMENTS, "m*y%return,with_*%return", "--by", "first=arg1")
    assert nothing_lost(report) and count(report["rows"]) == 2 * n


@needs_dwarf
@alike
def test_an_argument_that_cannot_be_read_then_is_lost(tool, trigger):
    """The text is, at the return."""
    report = measure(tool, trigger("arguments", 0, "one", "@null", "two"), "-x", ARGUMENTS, "read_text%return", "--by",
                     "text")
    assert counts_by(report, "text") == {"one": 1, "two": 1}
    assert report["lost"].pop("read_fault") == 1 and nothing_lost(report)


@needs_dwarf
@pytest.mark.parametrize("cpu", (0, 1))
def test_the_scope_is_that_of_the_return(tool, trigger, cpu):
    load = trigger("spans", "nested", 20, 1, 3, command=("taskset", "-c", "1"))
    tracer = tool("--json", "-x", SPANS, "recursive%return", "--by", "left", "-C", cpu, tool="probe")
    load.go()
    load.done()
    report = tracer.stop().report
    assert counts_by(report, "left") == ({i: 20 for i in range(4)} if cpu else {}), report
    assert nothing_lost(report) and (cpu or report["filtered"] >= 80)


@needs_dwarf
def test_allocators_by_the_return_address(tool, trigger):
    """malloc() is followed by its return address; what it was asked for is known at its return."""
    sizes = [1000 + i for i in range(10)]
    load = trigger("arguments", 5, *(f"@{size}" for size in sizes))
    report = measure(tool, load, "-x", "libc", "calloc%return", "--filter", "$arg2 > 1000 && $retval != 0", "--by",
                     "size=$arg2")
    assert counts_by(report, "size") == {size + 1: 1 for size in sizes} and nothing_lost(report)


def test_a_line_as_any_other(tool, trigger):
    """No time is told, which is that of --latency."""
    load = trigger("arguments", 3)
    result = Probe(tool, load, "-x", ARGUMENTS, "many%return $arg1").work()
    lines = [json.loads(line) for line in result.text.splitlines()]
    assert [line for line in lines if "values" in line] and not any("elapsed_ns" in line for line in lines)
