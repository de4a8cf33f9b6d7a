# SPDX-License-Identifier: BSD-2-Clause
"""probe on functions of programs and USDT: arguments, memory and variables with known values."""

import json
import re
import subprocess
from pathlib import Path
from platform import machine

import pytest

from probing import (alike, binary, compile_trigger, counts_by, few, instructions, measure, measure_each,
                     nothing_lost, rows_by, stream)
from tally import GUEST, ROOT, Trigger, by_key, count, flaws, needs_dwarf, scaled

pytestmark = pytest.mark.exact

ARGUMENTS, USDT, CALLS = binary("arguments"), binary("usdt"), binary("calls")
SOURCE = ROOT / "tests/triggers/arguments.c"


def signed(value, bits):
    return (value & (1 << bits) - 1) - ((value >> bits - 1 & 1) << bits)


# --- arguments -----------------------------------------------------------------------------------

MANY = ("a=$arg1:s32 b=$arg2:s64 c=$arg3:string d=(u8)$arg4 e=$arg5:s16 f=$arg6:x64 g=$arg7:s32 "
        "h=$arg8:s64")


def many(i):
    """The arguments of the i-th call of many()."""
    return {"a": i, "b": -i, "c": "text", "d": i & 255, "e": signed(-i, 16),
            "f": hex((1 << 40) + i), "g": 7 * i, "h": -8 * i}


@needs_dwarf
@pytest.mark.parametrize("arguments", (MANY, "a b c d e f=f:x64 g h"), ids=("abi", "names"))
def test_arguments(tool, trigger, arguments):
    """Six arguments in registers and two on the stack, by number and by name."""
    got, report = stream(tool, trigger("arguments", 20), "-x", ARGUMENTS, f"many {arguments}")
    assert got == [many(i) for i in range(20)]
    assert nothing_lost(report)


def test_registers(tool, trigger):
    got, _ = stream(tool, trigger("arguments", 3), "-x", ARGUMENTS,
                    "many %di low=%edi:s32 byte=%dil si=%si:s64 word=%r8w %sp stack=$stack1:s32")
    assert [v["di"] for v in got] == ["0x0", "0x1", "0x2"]
    assert [v["low"] for v in got] == [0, 1, 2] == [int(v["byte"], 16) for v in got]
    assert [v["si"] for v in got] == [0, -1, -2]
    assert [v["word"] for v in got] == ["0x0", "0xffff", "0xfffe"]
    assert [v["stack"] for v in got] == [0, 7, 14]
    assert all(int(v["sp"], 16) > 1 << 40 for v in got)


def test_memory(tool, trigger):
    got, report = stream(
        tool, trigger("arguments", 12), "-x", ARGUMENTS,
        "of_pair left=+0(%di):s32 right=+4(%di):u16 name=+6(%di):string next=+0(+16(%di)):s32 "
        "both=+0($arg1):x64 back=-4(%di + 8):u16")
    assert [(v["left"], v["right"], v["name"], v["next"], v["back"]) for v in got] == \
        [(-i, 2 * i, f"n{i % 10}", 100 + i, 2 * i) for i in range(12)]
    assert nothing_lost(report)


TEXTS = ("a text", "", "@null", "@unmapped", "@edge", "@63", "@254", "@300", "\x1b[31m\"\\\n", "\u00e9")


def shown(text):
    return {"@null": None, "@unmapped": None, "@edge": None, "@63": "x" * 63, "@254": "x" * 254,
            "@300": "x" * 255 + "...", "\x1b[31m\"\\\n": "\\x1b[31m\"\\x5c\\x0a"}.get(text, text)


@needs_dwarf
@pytest.mark.parametrize("argument", few(("text", "text=$arg1:string", "text=+0($arg1):string",
                                          "text=+0(%di):ustring")))
def test_texts(tool, trigger, argument):
    """Unreadable text is null, not empty; text that is too long is marked; no text breaks the line."""
    got, report = stream(tool, trigger("arguments", 0, *TEXTS), "-x", ARGUMENTS, f"read_text {argument}")
    assert [v["text"] for v in got] == [shown(text) for text in TEXTS]


@needs_dwarf
@alike
def test_texts_of_text(tool, trigger):
    load = trigger("arguments", 0, *TEXTS)
    tracer = tool("-x", ARGUMENTS, "read_text text", "-p", load.pid, tool="probe")
    load.go()
    load.done()
    lines = [line.partition("text=")[2] for line in tracer.stop().text.splitlines()[:len(TEXTS)]]
    assert lines[:5] == ['"a text"', '""', "(fault)", "(fault)", "(fault)"]
    assert lines[7] == '"' + "x" * 255 + '"...'
    assert lines[8] == r'"\x1b[31m\x22\x5c\x0a"'


@needs_dwarf
def test_texts_as_keys(tool, trigger):
    """Text at an unmapped address makes the event a loss, not a key without text."""
    texts = ("one", "two", "one", "", "@null", "@edge", "one", "\x07bell")
    report = measure(tool, trigger("arguments", 0, *texts), "-x", ARGUMENTS, "read_text", "--by", "text")
    assert counts_by(report, "text") == {"one": 3, "two": 1, "": 1, "\\x07bell": 1}
    assert report["lost"].pop("read_fault") == 2 and nothing_lost(report)


@needs_dwarf
def test_long_texts_are_keys_of_their_own(tool, trigger):
    """Up to 254 characters; texts that differ at their ends are two keys, and truncated text is marked."""
    sizes = (100, 100, 200, 254, 280, 300)
    report = measure(tool, trigger("arguments", 0, *(f"@{n}" for n in sizes)), "-x", ARGUMENTS,
                     "read_text", "--by", "text")
    assert counts_by(report, "text") == {"x" * 100: 2, "x" * 200: 1, "x" * 254: 1,
                                            "x" * 255 + "...": 2}


@needs_dwarf
@alike
def test_filters_on_texts(ends, trigger):
    filters = (("text == \"one\"", 2), ("text != \"one\"", 3), ("text ~ \"t*\"", 1), ("text == \"\"", 1),
               ("text ~ \"?n?\"", 2), ("text !~ \"*\"", 0), ("$arg1 == 0", 1),
               ("$arg1 && text == \"long\"", 1))
    reports = measure_each(ends, trigger("arguments", 0, "one", "two", "one", "", "long", "@null"),
                           [("-x", ARGUMENTS, "read_text", "--filter", text) for text, _ in filters])
    for (text, n), report in zip(filters, reports):
        assert count(report["rows"]) == n, text
        assert report["lost"]["read_fault"] == (0 if text.startswith("$arg1") else 1), text


def test_a_fault_is_no_value(ends, trigger):
    commands = [("--sum", "+0($arg1):u8"), ("--hist", "+0($arg1):u8"),
                ("--count", "--by", "+0($arg1):u8"),
                ("--count", "--filter", "+0($arg1):u8 == 0")]
    reports = measure_each(ends, trigger("arguments", 0, "A", "@null", "@unmapped", "A"),
                           [("-x", ARGUMENTS, "read_text", *args) for args in commands])
    assert [report["lost"]["read_fault"] for report in reports] == [2] * 4
    assert [report["events"] for report in reports] == [2, 2, 2, 0]
    assert reports[0]["rows"][0]["sum"] == 2 * ord("A")


def test_results(ends, trigger):
    n = 200
    all_results = [3 - i for i in range(n)]
    whole, unsigned, hist = measure_each(ends, trigger("arguments", n), [
        ("-x", ARGUMENTS, "many%return $retval", "--sum", "$retval", "--min", "$retval", "--max",
         "$retval"),
        ("-x", ARGUMENTS, "many%return", "--by", "r=(u8)$retval"),
        ("-x", ARGUMENTS, "many%return", "--hist", "$retval"),
    ])
    row, = whole["rows"]
    assert (row["sum"], row["min"], row["max"]) == \
        (sum(all_results), min(all_results), max(all_results))
    assert counts_by(unsigned, "r") == {r & 255: 1 for r in all_results}
    assert hist["groups"][0]["sum"] == 6 and hist["lost"]["negative"] == n - 4


@needs_dwarf
@alike
def test_sums_and_bounds(ends, trigger):
    n = 400
    whole, hist, linear, powers, bounds, by = measure_each(ends, trigger("arguments", n), [
        ("-x", ARGUMENTS, "many b", "--sum", "b", "--min", "b", "--max", "b", "--avg", "b"),
        ("-x", ARGUMENTS, "many d", "--hist"),
        ("-x", ARGUMENTS, "many b", "--lhist", "-300:-100:100"),
        ("-x", ARGUMENTS, "many a", "--pow", "10"),
        ("-x", ARGUMENTS, "many a", "--buckets", "100 250"),
        ("-x", ARGUMENTS, "many", "--sum", "a", "--by", "two=(u32)a/200,c"),
    ])
    row, = whole["rows"]
    total = n * (n - 1) // 2
    assert (row["sum"], row["min"], row["max"], row["avg"]) == (-total, 1 - n, 0, -total / n)
    assert hist["groups"][0]["sum"] == sum(i & 255 for i in range(n))
    assert linear["groups"][0]["buckets"] == [[None, -301, 99], [-300, -201, 100], [-200, -101, 100],
                                             [-100, None, 101]]
    assert powers["groups"][0]["buckets"] == [[0, 0, 1], [1, 9, 9], [10, 99, 90], [100, 999, 300]]
    assert bounds["groups"][0]["buckets"] == [[None, 99, 100], [100, 249, 150], [250, None, 150]]
    assert {k: r["sum"] for k, r in rows_by(by, "two", "c").items()} == \
        {(0, "text"): 199 * 100, (1, "text"): total - 199 * 100}


@needs_dwarf
@alike
def test_sums_of_events_with_a_sign_and_without(ends, trigger):
    """One event's numbers are signed, the other's are addresses with the highest bit set, which no signed sum holds."""
    n, high = 4, "arg1 | 0x8000000000000000"
    number, address, both, cast = measure_each(ends, trigger("arguments", n), [
        ("-x", ARGUMENTS, *args) for args in (("many", "--sum", high), ("of_pair", "--sum", high, "--min", high),
                                              ("many", "of_pair", "--sum", high),
                                              ("many", "of_pair", "--sum", f"(s64)({high})"))])
    assert number["rows"][0]["sum"] == float(sum(i - 2 ** 63 for i in range(n))) and nothing_lost(number)
    assert address["rows"][0]["min"] > 2 ** 63 and nothing_lost(address)
    row, = both["rows"]
    assert row == number["rows"][0] and both["events"] == n
    assert {k: v for k, v in flaws(both).items() if v} == {"bad_arithmetic": n}
    assert [r["count"] for r in cast["rows"]] == [n, n] and nothing_lost(cast)


@needs_dwarf
def test_keys_of_several_kinds(tool, trigger):
    report = measure(tool, trigger("arguments", 4), "-x", ARGUMENTS, "many", "--by",
                     "a,b,c,f:x64,comm,pid,tid,uid,func")
    rows = rows_by(report, "a", "b", "c", "f", "comm", "uid", "func")
    assert set(rows) == {(i, -i, "text", hex((1 << 40) + i), "arguments", 0, "arguments:many")
                         for i in range(4)}
    assert all(row["pid"] == row["tid"] for row in rows.values())


@needs_dwarf
def test_on_two_cpus_at_once(tool, trigger):
    """Programs on functions can be interrupted and preempted: still, each event counts, and once."""
    n = scaled(4000)

    def loads():
        return [trigger("arguments", n, command=("taskset", "-c", str(cpu))) for cpu in (0, 1)]
    report = measure(tool, loads(), "-x", ARGUMENTS, "many", "--sum", "a", "--by", "cpu")
    assert {cpu: (r["count"], r["sum"]) for cpu, r in rows_by(report, "cpu").items()} == \
        {cpu: (n, n * (n - 1) // 2) for cpu in (0, 1)}
    report = measure(tool, loads(), "-x", ARGUMENTS, "many d", "--hist")
    assert report["groups"][0]["sum"] == 2 * sum(i & 255 for i in range(n))
    assert nothing_lost(report)


@alike
def test_threads_of_one_program(tool, trigger):
    n, threads = scaled(2000), 4
    report = measure(tool, trigger("calls", n, threads, 3), "-x", CALLS, "known_function", "--sum",
                     "$arg1:s32", "-L")
    assert [(r["count"], r["sum"]) for r in report["rows"]] == [(n, n * (n - 1) // 2)] * threads


@alike
def test_functions_of_a_glob(tool, trigger):
    report = measure(tool, trigger("calls", 10, 1, 4), "-x", CALLS, "*_name", "known_*", "--by", "func")
    found = {name.partition(":")[2]: n for name, n in counts_by(report, "func").items()}
    assert sum(n for name, n in found.items() if name.endswith("_name")) == 10
    assert found["known_function"] == 10


@needs_dwarf
@alike
def test_names_of_each_probe(tool, trigger):
    """A name has its own meaning in each probe."""
    report = measure(tool, trigger("arguments", 10), "-x", ARGUMENTS, "M=many v=a", "L=with_locals v=n*2",
                     "--sum", "v")
    assert {r["event"]: (r["count"], r["sum"]) for r in report["rows"]} == \
        {"M": (10, 45), "L": (10, 90)}


def test_malloc_of_the_library(tool, trigger):
    """Sizes are those that the trigger asks for."""
    libc = re.search(r"/\S*/libc[.-]\S*", Path("/proc/self/maps").read_text()).group()
    n = scaled(2000)
    report = measure(tool, trigger("mallocs", n, 2, comm="allocator"), "-x", libc, "malloc", "--hist",
                     "arg1", "--by", "comm")
    groups = by_key(report, "comm")
    buckets = {first: k for first, _, k in groups["allocator"]["buckets"]}
    assert buckets[100] == 2 * n            # 100 and 101 share one
    report = measure(tool, trigger("mallocs", n, 2), "-x", libc, "malloc", "--by", "size=arg1",
                     "--filter", "arg1 == 100 || arg1 == 101")
    assert counts_by(report, "size") == {100: n, 101: n}
    assert nothing_lost(report)


# --- USDT ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ("arg1 arg2", "arg1=$arg1 arg2=$arg2"))
def test_usdt(tool, trigger, form):
    got, report = stream(tool, trigger("usdt", 30), "-x", USDT, f"sdt_tally_test:plain {form}")
    assert got == [{"arg1": i, "arg2": -i} for i in range(30)] and nothing_lost(report)


def test_usdt_in_two_places(tool, trigger):
    report = measure(tool, trigger("usdt", 300), "-x", USDT, "sdt_tally_test:twice", "--sum", "arg1")
    row, = report["rows"]
    assert (row["count"], row["sum"]) == \
        (300, sum(i if i % 3 else i & 255 for i in range(300)))


def test_usdt_with_a_semaphore(tool, trigger):
    """With a text argument."""
    report = measure(tool, trigger("usdt", 30), "-x", USDT, "sdt_tally_test:guarded", "--by",
                     "t=arg2:string,half=arg1>>4")
    assert counts_by(report, "t", "half") == {("text", 0): 16, ("text", 1): 14}


IN_VARIABLES = """
#include <sys/sdt.h>
static volatile long state;
long table[4];
static volatile int small[4];
int main(void)
{
	for (long i = 0; i < 20; i++) {
		state = -i;
		table[1] = 2 * i;
		small[3] = 3 * i;
		STAP_PROBE3(tally_test, variables, state, *(volatile long *)&table[1], small[3]);
	}
}
"""


@pytest.mark.skipif(machine() != "x86_64", reason="operands in the syntax of x86")
def test_usdt_in_variables(run, tmp_path):
    """Their operands name symbols, -8@state(%rip) -4@12+small(%rip), which strip(1) removes."""
    source = tmp_path / "variables.c"
    source.write_text(IN_VARIABLES)
    path = compile_trigger(tmp_path, source, "-O1", name="variables")
    assert "state(%rip)" in subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    result = run("--json", "--stream", "-x", path, "sdt_tally_test:variables arg1 arg2 arg3", "--", path, tool="probe")
    values = [json.loads(line)["values"] for line in result.text.splitlines() if '"values"' in line]
    assert values == [{"arg1": -i, "arg2": 2 * i, "arg3": 3 * i} for i in range(20)], result
    subprocess.run(["strip", path], check=True)
    result = run("-n", "-x", path, "sdt_tally_test:variables arg1", tool="probe")
    assert result.code == 2, result
    assert ("its operand '-8@state(%rip)' at sdt_tally_test:variables cannot be read: the file's symbol table "
            "does not have that name") in result.stderr, result


# --- DWARF ---------------------------------------------------------------------------------------

def lines_of(function):
    """{text: number} of the lines of a function of the trigger, counted from its first."""
    lines = SOURCE.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if re.match(rf"NOINLINE \w+ {function}\(", line))
    found = {}
    for i in range(first, first + 12):
        found.setdefault(lines[i].strip(), i - first)
        if lines[i] == "}":
            break
    return found


@needs_dwarf
def test_variables_in_the_middle(tool, trigger):
    """squared does not exist when the function begins, but does at later lines."""
    line = lines_of("with_locals")["sink = squared;"]
    got, _ = stream(tool, trigger("arguments", 10), "-x", ARGUMENTS, f"with_locals:{line} n squared")
    assert got == [{"n": i, "squared": i * i} for i in range(10)]


@needs_dwarf
@alike
def test_variables_that_are_not_live_are_refused(run):
    line = lines_of("with_locals")
    result = run("-x", ARGUMENTS, "with_locals squared", tool="probe")
    assert result.code == 2 and "squared is not known here: it is not live at this point; it is live at lines" \
        in result.stderr
    listed = result.stderr.partition("at lines")[2].splitlines()[0]
    known = {int(n) for n in re.findall(r"\d+", listed)}
    assert line["sink = squared;"] in known and 0 not in known
    behind = sorted(instructions(ARGUMENTS, "with_locals")[0])[1]
    result = run("-x", ARGUMENTS, f"with_locals+{behind} $arg1", tool="probe")
    assert result.code == 2 and "no such argument" in result.stderr


@needs_dwarf
def test_static_variables(ends, trigger):
    """Static variables by name, in a position-independent program: the value is from the call before."""
    value, filtered, exported = measure_each(ends, trigger("arguments", 20), [
        ("-x", ARGUMENTS, "with_locals", "--by", "n,passed"),
        ("-x", ARGUMENTS, "with_locals", "--filter", "passed > 5"),
        ("-x", ARGUMENTS, "many", "--by", "exported"),
    ])
    assert set(rows_by(value, "n", "passed")) == {(i, max(i - 1, 0)) for i in range(20)}
    assert count(filtered["rows"]) == 20 - 7
    assert counts_by(exported, "exported") == {4711: 20}


FORMS = (("-O0", "-g"), ("-O2", "-g"), ("-O2", "-g", "-no-pie"), ("-O1", "-g", "-static"),
         ("-O2", "-g", "-gdwarf-4"), ("-O3", "-g"))


@needs_dwarf
@pytest.mark.skipif(bool(GUEST), reason="compilers are slow in an emulated machine")
@pytest.mark.parametrize("flags", FORMS, ids=" ".join)
def test_of_compilers(ends, directory, flags):
    """Arguments, results, a local variable and a static one, with different compiler options."""
    path = compile_trigger(directory, SOURCE, "-D_GNU_SOURCE", *flags)
    load = Trigger(path, 10)
    ends.callback(load.close)
    line = lines_of("with_locals")["sink = squared + n;"]
    args, local, passed, pair = measure_each(ends, load, [
        ("-x", path, "many", "--by", "a,b,c,d,e,g,h"),
        ("-x", path, f"with_locals:{line}", "--by", "squared"),
        ("-x", path, "with_locals", "--max", "passed"),
        ("-x", path, "of_pair%return", "--sum", "$retval"),
    ])
    assert set(rows_by(args, *"abcdegh")) == \
        {tuple(many(i)[name] for name in "abcdegh") for i in range(10)}
    assert counts_by(local, "squared") == {i * i: 1 for i in range(10)}
    assert passed["rows"][0]["max"] == 8 and pair["rows"][0]["sum"] == -45


@needs_dwarf
@pytest.mark.skipif(bool(GUEST), reason="compilers are slow in an emulated machine")
def test_separate_debug_information(ends, directory):
    """Stripped, with and without the file that .gnu_debuglink names."""
    path = compile_trigger(directory, SOURCE, "-D_GNU_SOURCE", "-O2", "-g")
    debug = path.with_suffix(".debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", "-g", path], check=True)
    load = Trigger(path, 10)
    ends.callback(load.close)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", path, f"{path}-linked"], check=True,
                   cwd=directory)
    linked = Trigger(f"{path}-linked", 10)
    ends.callback(linked.close)
    report, = measure_each(ends, linked, [("-x", f"{path}-linked", "many", "--sum", "a")])
    assert report["rows"][0]["sum"] == 45
    report, = measure_each(ends, load, [("-x", path, "many", "--sum", "$arg1:s32")])
    assert report["rows"][0]["sum"] == 45
