# SPDX-License-Identifier: BSD-2-Clause
"""Arguments and results of Go functions: by number, by name, and refused where their place is not known."""
import json
import os
import shutil

import pytest

from probing import build_go, counts_by, nothing_lost
from tally import needs_dwarf, once

pytestmark = [once, pytest.mark.exact, pytest.mark.skipif(not shutil.which("go"), reason="there is no go")]

CALLS = 20

MAIN = """
package main

import "os"

type point struct{ x, y int }

var sink int

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func mixed(a int8, s string, f float64, b uint32, p *point) (string, int) { return s, int(a) + int(b) + p.x }

//go:noinline
func (p *point) sum(n int) int { return p.x + p.y + n }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r int) int {
	return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r
}

//go:noinline
func unused(_ int, b int) { sink = b }

//go:noinline
func fails(n int) error {
	if n%2 == 1 {
		return os.ErrExist
	}
	return nil
}

//go:noinline
func half(f float64) float64 { return f / 2 }

//go:noinline
func pair(v [2]int, n int) ([2]int, int) { return [2]int{v[1], n}, n }

//go:noinline
func small(a int32, b bool) int16 {
	if b {
		return int16(a)
	}
	return 7
}

//go:noinline
func named(n int) (sum int) {
	sum = n + 1
	return sum
}

//go:noinline
func grow(n int) int {
	var room [3000]int
	room[n%3000] = n
	return room[n%3000] + 1
}

func double(n int) int

func main() {
	p := &point{3, 4}
	for i := 0; i < CALLS; i++ {
		sink += add(1000+i, -i) + p.sum(i) + double(i) + named(i) + grow(i)
		many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, i)
		unused(5, i)
		fails(i)
		half(float64(i))
		pair([2]int{8, 9}, i)
		small(int32(-i), true)
	}
	_, n := mixed(-5, "a text", 1.5, 4000000, p)
	sink += n
}
"""
# By ABI0, which is that of assembly.
ASSEMBLY = {
    "amd64": "TEXT \u00b7double(SB), 4, $0-16\n\tMOVQ n+0(FP), AX\n\tADDQ AX, AX\n\tMOVQ AX, ret+8(FP)\n\tRET\n",
    "386": "TEXT \u00b7double(SB), 4, $0-8\n\tMOVL n+0(FP), AX\n\tADDL AX, AX\n\tMOVL AX, ret+4(FP)\n\tRET\n",
    "arm64": "TEXT \u00b7double(SB), 4, $0-16\n\tMOVD n+0(FP), R0\n\tADD R0, R0\n\tMOVD R0, ret+8(FP)\n\tRET\n",
}
WITH_C = """
package main

/*
__attribute__((noinline)) long step(long i, long n) { __asm__ volatile("" : "+r"(i)); return i + n; }
*/
import "C"

//go:noinline
func add(a, b int) int { return a + b }

func main() {
	for i := 0; i < CALLS; i++ {
		add(1000+i, -i)
		C.step(C.long(i), 5)
	}
}
"""

HOW = {
    "optimised": (), "plain": ("-gcflags=-N -l",), "pie": ("-buildmode=pie",), "without names": ("-ldflags=-w",),
    "stripped": ("-ldflags=-s",), "stripped pie": ("-buildmode=pie", "-ldflags=-s"),
    "with C": (), "32 bits": (),
}
KNOWS_NAMES = ("optimised", "plain", "pie")
IN_REGISTERS = (*KNOWS_NAMES, "without names", "stripped", "stripped pie")


def build(place, how):
    with_c = how == "with C"
    (place / "main.go").write_text((WITH_C if with_c else MAIN).replace("CALLS", str(CALLS)))
    if not with_c:
        for machine, text in ASSEMBLY.items():
            (place / f"double_{machine}.s").write_text(text)
    return build_go(place, *HOW[how], with_c=with_c, machine="386" if how == "32 bits" else None)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    place, known = tmp_path_factory.mktemp("go"), {}

    def get(how):
        if how not in known:
            (place / str(len(known))).mkdir()
            known[how] = build(place / str(len(known)), how)
        return known[how]

    return get


@pytest.fixture
def look(run, programs, tmp_path):
    """{the values of keys: events}, of all calls that a program makes of a function."""
    def look(how, event, *keys, option=None):
        program, saved = programs(how), tmp_path / "report.json"
        keyed = ",".join(f"k{i}={key}" for i, key in enumerate(keys))
        ran = run("-x", program, event, "--by", keyed, *([option] if option else []), "--json", "-o", saved, "--",
                  program, tool="probe")
        assert ran.code == 0, ran
        report = json.loads(saved.read_text())
        assert nothing_lost(report)
        names = [f"k{i}" for i in range(len(keys))]
        if option:
            return {tuple(group["key"][name] for name in names): group["count"] for group in report["groups"]}
        return {key if isinstance(key, tuple) else (key,): n for key, n in counts_by(report, *names).items()}

    return look


@pytest.fixture
def refused(run, programs):
    def refused(how, event, key):
        ran = run("-x", programs(how), event, "--by", key, "--", programs(how), tool="probe")
        assert ran.code != 0 and not ran.stdout, ran
        return ran.stderr

    return refused


def of_calls(*values):
    """{a call's values: 1}"""
    return {tuple(value(i) for value in values): 1 for i in range(CALLS)}


def whole(i):
    return i


@pytest.mark.parametrize("how", (*IN_REGISTERS, "with C"))
def test_by_number(look, how):
    assert look(how, "main.add", "(s64)$arg1", "(s64)$arg2") == of_calls(lambda i: 1000 + i, lambda i: -i)


@pytest.mark.parametrize("how", (*IN_REGISTERS, "with C"))
def test_results(look, how):
    assert look(how, "main.add%return", "$retval") == {(1000,): CALLS}


@pytest.mark.parametrize("how", IN_REGISTERS)
def test_words(look, refused, how):
    """A receiver is the first one, a string two, a float none; those beyond the registers are on the stack."""
    registers = 16 if os.uname().machine == "aarch64" else 9
    assert look(how, "main.mixed", "(s8)$arg1", "$arg3", "(u32)$arg4") == {(-5, 6, 4000000): 1}
    assert look(how, "main.*point*.sum", "(s64)$arg2") == of_calls(whole)
    keys = "(s64)$arg1", f"(s64)$arg{registers}", "$stack1"
    assert look(how, "main.many", *keys) == {(1, registers, registers + 1): CALLS}
    assert f"first {registers} words" in refused(how, "main.many", f"$arg{registers + 1}")
    assert look(how, "main.grow", "(s64)$arg1") == of_calls(whole)


@needs_dwarf
@pytest.mark.parametrize("how", KNOWS_NAMES)
def test_by_name(look, refused, how):
    assert look(how, "main.add", "a", "b", "$arg2") == of_calls(lambda i: 1000 + i, lambda i: -i, lambda i: -i)
    assert look(how, "main.unused", "b") == of_calls(whole)
    assert look(how, "main.small", "a", "b", "$arg1", "$arg2") == \
        of_calls(lambda i: -i, lambda i: 1, lambda i: -i, lambda i: 1)
    assert look(how, "main.mixed", "a", "b", "$arg1", "$arg4", "p->x", "p->y") == \
        {(-5, 4000000, -5, 4000000, 3, 4): 1}
    assert "$arg1, $arg2" in refused(how, "main.mixed", "s")
    assert "a register that BPF programs cannot read" in refused(how, "main.half", "f")


@needs_dwarf
@pytest.mark.parametrize("how", ("optimised", "pie"))
def test_by_name_on_the_stack(look, how):
    assert look(how, "main.many", "a", "q", "r") == of_calls(lambda i: 1, lambda i: 17, whole)


@needs_dwarf
@pytest.mark.parametrize("how", KNOWS_NAMES)
def test_results_and_arguments(look, refused, how):
    assert look(how, "main.add%return", "$arg1", "b", "$retval") == \
        of_calls(lambda i: 1000 + i, lambda i: -i, lambda i: 1000)
    assert look(how, "main.named", "n", "$retval", option="--latency") == of_calls(whole, lambda i: i + 1)
    assert look(how, "main.small%return", "$retval") == of_calls(lambda i: -i)
    assert look(how, "main.fails%return", "$retval != 0") == {(0,): CALLS // 2, (1,): CALLS // 2}
    assert "returns nothing" in refused(how, "main.unused%return", "$retval")
    assert "floating-point" in refused(how, "main.half%return", "$retval")
    assert "is not a number" in refused(how, "main.pair%return", "$retval")
    assert "it is a result" in refused(how, "main.named", "sum")


@pytest.mark.parametrize("how", ("optimised", "without names"))
def test_assembly_takes_them_on_the_stack(look, refused, how):
    assert "on the stack" in refused(how, "main.double.abi0", "$arg1")
    assert "on the stack" in refused(how, "main.double.abi0%return", "$retval")
    assert look(how, "main.double.abi0", "$stack1") == of_calls(whole)


def test_assembly_without_symbols(look, refused):
    """The table of the runtime does not say by which ABI it is called."""
    assert "which is Go assembly" in refused("stripped", "main.double", "$arg1")
    assert look("stripped", "main.double", "$stack1") == of_calls(whole)


@needs_dwarf
def test_c_in_a_go_program(look):
    assert look("with C", "step", "$arg1", "$arg2") == of_calls(whole, lambda i: 5)
    assert look("with C", "step%return", "$retval", "i") == of_calls(lambda i: i + 5, whole)


@needs_dwarf
def test_results_are_listed_as_such(run, programs):
    shown = run("-x", programs("optimised"), "--vars", "main.add", "--json", tool="list").report
    kinds = {row["name"]: row["kind"] for row in shown["rows"]}
    assert kinds["a"] == kinds["b"] == "parameter" and sorted(kinds.values())[-1] == "result"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="it is no program of this machine")
@pytest.mark.parametrize("event, key", (("main.add", "$arg1"), ("main.add%return", "$retval")))
def test_32_bit(refused, event, key):
    """ABI0, too."""
    assert "on the stack" in refused("32 bits", event, key)
