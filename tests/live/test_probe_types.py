# SPDX-License-Identifier: BSD-2-Clause
"""probe reads values with the width and sign of their declaration, from where the calling convention puts them: against
programs that know the values they pass."""

import re
import subprocess
import sys

import pytest

from probing import binary, compile_trigger, measure_each, nothing_lost, stream_of, told, Probe
from tally import GUEST, ROOT, Trigger, flaws, needs_dwarf

SOURCE = ROOT / "tests/triggers/signatures.cpp"
TARGET, SECOND, REFERRED = 4242, -77, -5
N = 3


LEVELS = ("-O0",) if GUEST else ("-O0", "-O2")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The program as C and as C++, plain and optimized."""
    directory = tmp_path_factory.mktemp("signatures")
    found = {}
    for level in LEVELS:
        found["c", level] = compile_trigger(directory, SOURCE, "-x", "c", "-g", level, "-w",
                                            name="signatures_c" + level)
        found["c++", level] = compile_trigger(directory, SOURCE, "-g", level, "-w", "-Wno-psabi",
                                              name="signatures_cc" + level, compiler="g++")
    return found


def functions(path, pattern):
    """The symbols of a program's functions that match a regular expression."""
    listed = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True)
    names = [line.split()[2] for line in listed.stdout.splitlines() if " T " in line or " W " in line]
    return [name for name in names if re.match(pattern, name)]


def start(ends, path):
    load = Trigger(path, N)
    ends.callback(load.close)
    return load


def lines_of(result):
    lines, (report,) = told(result)
    assert nothing_lost(report), report
    return [(line["event"].split(":")[-1], line["values"]) for line in lines]


# C++ symbols begin with _Z; functions of C have their own names.
CALLED = r"(s|r|neg)_|_ZN?[0-9]+(cc|ref|refs)_|_ZN5thing"


@needs_dwarf
@pytest.mark.parametrize("language", ("c", "c++"))
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("end", ("", "%return"))
def test_arguments_are_where_the_calling_convention_puts_them(tool, ends, made, language, level, end):
    """After arguments of each type, and with results of each type; at a return, with their values at the entry."""
    path = made[language, level]
    names = [name + end for name in functions(path, CALLED)]
    assert len(names) == {"c": 49, "c++": 74}[language]
    probe = Probe(tool, start(ends, path), "-x", path, ",".join(names) + " target second", "--stream")
    seen = lines_of(probe.work())
    assert sorted(name for name, _ in seen) == sorted(names * N)
    wrong = {name: values for name, values in seen if values != {"target": TARGET, "second": SECOND}}
    assert not wrong


@needs_dwarf
@pytest.mark.parametrize("level", LEVELS)
def test_a_reference_is_what_it_refers_to(tool, ends, made, level):
    path = made["c++", level]
    for probe, wanted in (
            (",".join(functions(path, r"_Z[0-9]+ref_")) + " referred", [{"referred": REFERRED}] * 3),
            (",".join(name + "%return" for name in functions(path, r"_Z[0-9]+ref_")) + " referred",
             [{"referred": REFERRED}] * 3),
            (functions(path, r"_Z[0-9]+refs_member")[0] + "%return t.own t.other",
             [{"own": 6, "other": REFERRED}]),
            (functions(path, r"_Z[0-9]+refs_array")[0] + " grid[0] grid[2]",
             [{"grid[0]": 10, "grid[2]": 30}]),
            (functions(path, r"_Z[0-9]+refs_member")[0] + " t.own arrow=t->own t.other",
             [{"own": 6, "arrow": 6, "other": REFERRED}]),
            (functions(path, r"_Z[0-9]+refs_result")[0] + "%return $retval", [{"retval": REFERRED}])):
        got, report = stream_of(Probe(tool, start(ends, path), "-x", path, probe).work())
        assert got == wanted * N and nothing_lost(report), probe


RESULTS = {"int": -1, "short": -1, "char": -1, "long": -1, "unsigned": 2 ** 32 - 1,
           "ushort": 2 ** 16 - 1, "bool": 1}


@needs_dwarf
@pytest.mark.parametrize("level", LEVELS)
def test_results_have_their_width_and_sign(tool, ends, made, level):
    path = made["c", level]
    seen = lines_of(Probe(tool, start(ends, path), "-x", path, "neg_*%return $retval", "--stream").work())
    assert sorted(seen) == sorted([(f"neg_{name}%return", {"retval": value})
                                   for name, value in RESULTS.items()] * N)
    load = start(ends, path)
    for name, report in zip(("int", "short", "char"), measure_each(ends, load, [
            ("-x", path, f"neg_{name}%return", "--filter", "$retval < 0") for name in ("int", "short", "char")])):
        assert report["events"] == N, name


@needs_dwarf
def test_results_that_are_no_numbers_are_refused(run, made):
    path = made["c", "-O0"]
    for name, said in (("r_double", "the result is in a floating-point register"),
                       ("r_long_double", "the result is in a floating-point register"),
                       ("r_three", "the result is not a number"), ("r_wide", "the result is not a number"),
                       ("s_int", "this function returns nothing")):
        result = run("-n", "-x", path, f"{name}%return $retval", tool="probe")
        assert result.code == 2 and said in result.stderr, result
    result = run("-n", "-x", path, "s_double a", tool="probe")
    assert result.code == 2 and "a floating-point register" in result.stderr, result


def test_a_type_that_is_not_known_is_said(tool, ends, run, tmp_path):
    """Without debug information the report has the type that is assumed for a result."""
    path = compile_trigger(tmp_path, SOURCE, "-x", "c", "-O0", "-w", name="stripped")
    got, report = stream_of(Probe(tool, start(ends, path), "-x", path, "neg_long%return $retval").work())
    assert got == [{"retval": -1}] * N
    assert "$retval of unknown type, read as s64" in report["source"]
    _, report = stream_of(Probe(tool, start(ends, path), "-x", path, "neg_int%return (int)$retval").work())
    assert "unknown type" not in report["source"]
    result = run("-n", "-x", path, "s_int", "--filter", "$arg1 == -1", tool="probe")
    assert result.code == 2 and "this is never true: $arg1 is u64 here, since its type is unknown" in \
        result.stderr and "(int)$arg1" in result.stderr, result


# --- system calls ---------------------------------------------------------------------------------

# Arguments that are signed or narrower than the 8 bytes they have in a record: each call fails.
CALLS = (
    ("lseek", 8, (-1, -5, 0), "offset", "off_t", -5),
    ("pread64", 17, (-1, 0, 0, -6), "pos", "loff_t", -6),
    ("clock_gettime", 228, (-7, 0), "which_clock", "clockid_t", -7),
    ("mq_getsetattr", 245, (-8, 0, 0), "mqdes", "mqd_t", -8),
    ("timer_delete", 226, (-9,), "timer_id", "timer_t", -9),
    ("setfsuid", 122, (-1,), "uid", "uid_t", 2 ** 32 - 1),
    ("mkdirat", 258, (-1, 0, 0x7ab0000 + 0o755), "mode", "umode_t", 0o755),
    ("fallocate", 285, (-1, 0, -11, -12), "len", "loff_t", -12),
    ("waitid", 247, (99, -13, 0, 0, 0), "upid", "pid_t", -13),
)
CALLER = """
import ctypes, sys
libc = ctypes.CDLL(None)
print("ready", flush=True)
sys.stdin.readline()
for i in range(%d):
    for number, arguments in %r:
        libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
print("done", flush=True)
sys.stdin.read()
"""


def test_fields_of_system_calls_have_the_types_they_are_declared_with(ends):
    n = 20
    text = CALLER % (n, [(number, arguments) for _, number, arguments, *_ in CALLS])
    load = Trigger(sys.executable, "-c", text)
    ends.callback(load.close)
    reports = measure_each(ends, load, [
        (f"syscalls:sys_enter_{name}", "--filter", f"{field} == {value}") for name, _, _, field, _, value in CALLS])
    for (name, _, _, field, kind, value), report in zip(CALLS, reports):
        assert report["events"] == n and nothing_lost(report), (name, field, kind, value, report)


# --- sums and losses ------------------------------------------------------------------------------

def exact(value):
    """The value as JSON has it: one that does not fit into signed 64 bits has a precision of 53 bits."""
    return value if -2 ** 63 <= value < 2 ** 63 else float(value)


def test_sums_beyond_64_bits(tool, ends):
    """Sums of the largest numbers; their mean lies between the smallest and the largest value."""
    n, largest = 20, 2 ** 63 - 1
    text = CALLER % (n, [(8, (-1, largest, 0)), (8, (-1, -largest, 0)), (8, (-1, largest - 6, 0))])
    load = Trigger(sys.executable, "-c", text)
    ends.callback(load.close)
    lseek = "syscalls:sys_enter_lseek"
    ours = "fd == 0xffffffff"          # the interpreter seeks elsewhere, too
    runs = (("offset", "offset > 0 && " + ours, largest * n + (largest - 6) * n, largest - 6, largest),
            ("offset", "offset < 0", -largest * n, -largest, -largest),
            ("(u64)offset", "offset < 0", (2 ** 64 - largest) * n, 2 ** 64 - largest, 2 ** 64 - largest),
            ("(u64)offset * 1", ours, n * (2 ** 64 + largest - 6), largest - 6, 2 ** 64 - largest),
            ("offset", ours, n * (largest - 6), -largest, largest))
    reports = measure_each(ends, load, [
        (lseek, "--sum", value, "--avg", value, "--min", value, "--max", value, "--filter", keep, *keyed)
        for value, keep, *_ in runs for keyed in ((), ("--by", "pid"))])
    for i, report in enumerate(reports):
        value, keep, total, least, most = runs[i // 2]
        (row,) = report["rows"]
        assert (row["sum"], row["min"], row["max"]) == (exact(total), exact(least), exact(most)), (value, keep, row)
        assert row["avg"] == pytest.approx(total / row["count"], rel=1e-12) and nothing_lost(report)


def test_histograms_of_values_beyond_63_bits(ends):
    """Sums and means of histograms, too, also of histograms with given bounds, and of signed values."""
    n, largest = 20, 2 ** 63 - 1
    text = CALLER % (n, [(8, (-1, largest, 0)), (8, (-1, -largest, 0)), (8, (-1, largest - 6, 0))])
    load = Trigger(sys.executable, "-c", text)
    ends.callback(load.close)
    lseek = "syscalls:sys_enter_lseek"
    ours = "fd == 0xffffffff"
    runs = ((("--hist", "offset"), "offset > 0 && " + ours, [largest, largest - 6]),
            (("--hist", "(u64)offset"), ours, [largest, largest - 6, 2 ** 64 - largest]),
            (("--hist", "offset", "--lhist", "0:100:10"), ours, [largest, largest - 6, -largest]),
            (("--hist", "offset", "--lhist", "0:100:10"), "offset < 0", [-largest]))
    reports = measure_each(ends, load, [(lseek, *what, "--filter", keep, *keyed)
                                        for what, keep, _ in runs for keyed in ((), ("--by", "pid"))])
    for i, report in enumerate(reports):
        what, _, values = runs[i // 2]
        (group,) = report["groups"]
        total = sum(values) * n
        assert nothing_lost(report) and group["count"] == len(values) * n, report
        assert (group["sum"], group["min"], group["max"]) == (
            exact(total),
            exact(min(values)),
            exact(max(values)),
        ), what
        mean = abs(total) // group["count"] * (1 if total > 0 else -1)
        assert group["avg"] == exact(mean), (what, group)


@needs_dwarf
def test_a_loss_has_its_own_reason(ends, trigger):
    load = trigger("arguments", 4, "short", "@150", "@300")
    path = binary("arguments")
    division, shift, glob, keyed = measure_each(ends, load, [
        ("-x", path, "many", "--filter", "10 / a > 1"),
        ("-x", path, "many", "--sum", "1 << (a + 62)"),
        ("-x", path, "read_text", "--filter", "text ~ \"x*\""),
        ("-x", path, "many", "--count", "--by", "7 % (a - 1)"),
    ])
    assert {k: v for k, v in flaws(division).items() if v} == {"bad_arithmetic": 1}
    assert {k: v for k, v in flaws(shift).items() if v} == {"bad_arithmetic": 2}
    assert {k: v for k, v in flaws(glob).items() if v} == {"text_too_long": 2}
    assert {k: v for k, v in flaws(keyed).items() if v} == {"bad_arithmetic": 1}


def test_streams_of_globs_name_each_event(tool, ends, made):
    path = made["c", "-O0"]
    lines, _ = told(Probe(tool, start(ends, path), "-x", path, "neg_*", "--stream").work())
    assert {line["event"].split(":")[-1] for line in lines} == {"neg_" + name for name in RESULTS}
