# SPDX-License-Identifier: BSD-2-Clause
"""Arguments and results of Go functions."""
import os
import shutil
import subprocess

import pytest

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
    "with C": (), "32 bits": (),
}
KNOWS_NAMES = ("optimised", "plain", "pie")
IN_REGISTERS = (*KNOWS_NAMES, "without names")


def build(place, how):
    with_c = how == "with C"
    (place / "go.mod").write_text("module program\n\ngo 1.18\n")
    (place / "main.go").write_text((WITH_C if with_c else MAIN).replace("CALLS", str(CALLS)))
    if not with_c:
        for machine, text in ASSEMBLY.items():
            (place / f"double_{machine}.s").write_text(text)
    subprocess.run(["go", "build", *HOW[how], "-o", place / "program"], check=True, cwd=place, capture_output=True,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": str(int(with_c)),
                        "GOCACHE": str(place.parent / "cache"), **({"GOARCH": "386"} if how == "32 bits" else {})})
    return place / "program"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    place, known = tmp_path_factory.mktemp("go"), {}

    def get(how):
        if how not in known:
            (place / str(len(known))).mkdir()
            known[how] = build(place / str(len(known)), how)
        return known[how]

    return get


@needs_dwarf
def test_results_are_listed_as_such(run, programs):
    shown = run("-x", programs("optimised"), "--vars", "main.add", "--json", tool="list").report
    kinds = {row["name"]: row["kind"] for row in shown["rows"]}
    assert kinds["a"] == kinds["b"] == "parameter" and sorted(kinds.values())[-1] == "result"
