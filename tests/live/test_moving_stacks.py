# SPDX-License-Identifier: BSD-2-Clause
"""Ends of functions in programs that move or switch stacks, or throw exceptions through them: whichever way an end is
probed, the program ends as it does alone, with its own result."""

import json
import os
import shutil
import subprocess

import pytest

from probing import nothing_lost
from tally import once

pytestmark = [once, pytest.mark.exact]

CALLS = 200

GO = """
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func deep(n int) int {
	var room [64]int
	room[n%64] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + room[n%64] - n + 1
}

//go:noinline
func large(n int) int {
	var room [2000]int
	room[n%2000] = n
	runtime.Gosched()
	return deep(n) + room[n%2000] - n
}

//go:noinline
func add(a, b int) int { return a + b }
"""
# A goroutine for each call.
GO_MAIN = """
func main() {
	var wait sync.WaitGroup
	sums := make([]int, CALLS)
	for i := range sums {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			sums[i] = EXPRESSION
		}(i)
	}
	wait.Wait()
	all := 0
	for _, sum := range sums {
		all += sum
	}
	fmt.Println(all)
}
"""
GO_WITH_C = """
package main

/*
#include <unistd.h>
__attribute__((noinline)) int step(int i) { usleep(100); return i + 1; }
*/
import "C"
import (
	"fmt"
	"sync"
)
"""

# The program ends while each goroutine is in a call.
GO_THAT_WAITS = """
package main

import "sync"

//go:noinline
func waits(begun *sync.WaitGroup, never chan int) int {
	begun.Done()
	return <-never
}

func main() {
	var begun sync.WaitGroup
	begun.Add(CALLS)
	never := make(chan int)
	for i := 0; i < CALLS; i++ {
		go waits(&begun, never)
	}
	begun.Wait()
}
"""

# {name: (source, whether it uses C, its output)}
GO_PROGRAMS = {
    "go": (GO + GO_MAIN.replace("EXPRESSION", "add(large(500), i)"), False,
           str(CALLS * 500 + CALLS * (CALLS - 1) // 2)),
    "go with C": (GO_WITH_C + GO_MAIN.replace("EXPRESSION", "int(C.step(C.int(i)))"), True,
                  str(CALLS * (CALLS + 1) // 2)),
    "go that waits": (GO_THAT_WAITS, False, ""),
}

# The call of step() begins on one stack and ends on another; its last call is a tail call.
CONTEXTS = """
#include <stdio.h>
#include <ucontext.h>

static ucontext_t home, fiber[2];
static char stack[2][64 << 10];
static long sum;

__attribute__((noinline)) long finish(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }

__attribute__((noinline)) long step(int own, long n)
{
	swapcontext(&fiber[own], &fiber[!own]);
	__asm__ volatile("" ::: "memory");
	return finish(n);
}

static void run(int own)
{
	long i;

	for (i = 0; i < CALLS / 2; i++)
		sum += step(own, i);
	/* The other one has a last step to end. */
	swapcontext(&fiber[own], own ? &home : &fiber[1]);
}

int main(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		getcontext(&fiber[i]);
		fiber[i].uc_stack.ss_sp = stack[i];
		fiber[i].uc_stack.ss_size = sizeof(stack[i]);
		makecontext(&fiber[i], (void (*)(void))run, 1, i);
	}
	swapcontext(&home, &fiber[0]);
	printf("%ld\\n", sum);
	return 0;
}
"""

# The switch by hand, as coroutine libraries have it. step() returns to its caller by another stack than it was called
# on.
FIBERS = """
#include <stdio.h>
#include <stdlib.h>

void change(void **from, void *to);
__asm__(".globl change\\n.type change, @function\\nchange:\\n"
	"push %rbp\\npush %rbx\\npush %r12\\npush %r13\\npush %r14\\npush %r15\\n"
	"mov %rsp, (%rdi)\\nmov %rsi, %rsp\\n"
	"pop %r15\\npop %r14\\npop %r13\\npop %r12\\npop %rbx\\npop %rbp\\nret\\n.size change, . - change\\n");

static void *home, *fiber;
static long sum;

__attribute__((noinline)) long finish(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }

__attribute__((noinline)) long step(long n)
{
	change(&fiber, home);
	__asm__ volatile("" ::: "memory");
	return finish(n);
}

static void run(void)
{
	long i;

	for (i = 0; i < CALLS; i++)
		sum += step(i);
	for (;;)
		change(&fiber, home);
}

int main(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	void **top = (void **)(stack + sizeof(stack)) - 2;
	int i;

	*top = (void *)run;
	fiber = top - 6;
	for (i = 0; i <= CALLS; i++)
		change(&home, fiber);
	printf("%ld\\n", sum);
	return 0;
}
"""

JUMPS = """
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;
static long sum;

__attribute__((noinline)) long finish(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }

__attribute__((noinline)) long step(long n)
{
	if (n % 3 == 0)
		longjmp(back, 1);
	__asm__ volatile("" ::: "memory");
	return finish(n);
}

int main(void)
{
	volatile long i;

	for (i = 0; i < CALLS; i++)
		if (!setjmp(back))
			sum += step(i);
	printf("%ld\\n", sum);
	return 0;
}
"""

THROWS = """
#include <cstdio>

static long sum;

extern "C" __attribute__((noinline)) long finish(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }

extern "C" __attribute__((noinline)) long step(long n)
{
	if (n % 3 == 0)
		throw n;
	__asm__ volatile("" ::: "memory");
	return finish(n);
}

int main()
{
	for (long i = 0; i < CALLS; i++) {
		try {
			sum += step(i);
		} catch (long) {
		}
	}
	printf("%ld\\n", sum);
	return 0;
}
"""

C = ["gcc", "-O2", "-fno-inline", "-foptimize-sibling-calls"]
PROGRAMS = {
    "swapcontext": (C, ".c", CONTEXTS),
    "fibers": (C, ".c", FIBERS),
    "longjmp": (C, ".c", JUMPS),
    "exceptions": (["g++", *C[1:]], ".cc", THROWS),
    "stripped of names": ([*C, "-Wl,--export-dynamic", "-s"], ".c", CONTEXTS),
}


def build_go(place, program, name):
    if not shutil.which("go"):
        pytest.skip("there is no go")
    text, with_c, result = GO_PROGRAMS[name]
    (place / "main.go").write_text(text.replace("CALLS", str(CALLS)))
    subprocess.run(["go", "build", "-o", program, place / "main.go"], check=True, cwd=place, capture_output=True,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": str(int(with_c)),
                        "GOCACHE": str(place / "cache")})
    return program, result


def build(place, name):
    """(program, its output when run alone)"""
    program = place / "program"
    if name in GO_PROGRAMS:
        return build_go(place, program, name)
    command, end, text = PROGRAMS[name]
    if name == "fibers" and os.uname().machine != "x86_64":
        pytest.skip("its switch is written for x86-64")
    source = place / f"program{end}"
    source.write_text(text)
    subprocess.run([*command, f"-DCALLS={CALLS}", "-o", program, source], check=True)
    alone = subprocess.run([program], capture_output=True, text=True, check=True)
    return program, alone.stdout.strip()


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    known = {}

    def get(name):
        if name not in known:
            known[name] = build(tmp_path_factory.mktemp("program"), name)
        return known[name]

    return get


WAYS = (("probe", "{}%return"), ("probe", "{}*%return"), ("probe", "{}", "--latency"), ("probe", "{}*", "--latency"),
        ("probe", "{}%return", "--by", "$stack0"), ("stackcount", "{}%return"), ("stackcount", "{}*%return"),
        ("funcgraph", "{}"), ("probe", "{}", "--latency", "--stream"))


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize("name", ("go", *PROGRAMS))
def test_the_program_is_whole(run, programs, tmp_path, name, way):
    program, result = programs(name)
    for function in ("main.deep", "main.large", "main.add") if name == "go" else ("step", "finish"):
        tool, *line = way
        line = [word.format(function) for word in line]
        ran = run("-x", program, *line, "--json", "-o", tmp_path / "report.json", "--", program, tool=tool)
        # The tool refuses before the program runs, or it measures.
        refused = ran.code != 0 and not ran.stdout and "cannot be traced" in ran.stderr
        assert refused or (ran.code == 0 and ran.text.strip() == result), ran


@pytest.mark.parametrize("function, calls", (("deep", 501), ("large", 1), ("add", 1)))
@pytest.mark.parametrize("end", ("", "%return"))
def test_calls_of_go(run, programs, tmp_path, function, calls, end):
    """A call whose stack grew counts once at its begin, and once at its end."""
    program, result = programs("go")
    saved = tmp_path / "report.json"
    ran = run("-x", program, f"main.{function}{end}", "--json", "-o", saved, "--", program, tool="probe")
    assert ran.code == 0 and ran.text.strip() == result, ran
    report = json.loads(saved.read_text())
    assert report["events"] == CALLS * calls and nothing_lost(report)


@pytest.mark.parametrize("function, calls", (("deep", 501), ("large", 1), ("add", 1)))
def test_latency_of_goroutines(run, programs, tmp_path, function, calls):
    """Goroutines continue in other threads, on stacks that move: each call has its own end. Calls beyond the room in
    the map are lost, and counted."""
    program, result = programs("go")
    saved = tmp_path / "report.json"
    ran = run("-x", program, f"main.{function}", "--latency", "--json", "-o", saved, "--", program, tool="probe")
    assert ran.code == 0 and ran.text.strip() == result, ran
    report = json.loads(saved.read_text())
    others = sum(report["lost"].values()) - report["lost"]["map_full"]
    assert report["events"] + report["lost"]["map_full"] == CALLS * calls and not others, report


def test_latency_of_c_in_a_go_program(run, programs, tmp_path):
    """In a C function, the register that Go keeps the goroutine in holds something else."""
    program, result = programs("go with C")
    saved = tmp_path / "report.json"
    ran = run("-x", program, "step", "--latency", "--json", "-o", saved, "--", program, tool="probe")
    assert ran.code == 0 and ran.text.strip() == result, ran
    report = json.loads(saved.read_text())
    assert report["events"] == CALLS and nothing_lost(report)


def test_calls_of_goroutines_that_end_with_the_process(tool, programs):
    """These calls have no end, and are counted as lost."""
    program, _ = programs("go that waits")
    tracer = tool("--json", "-x", program, "main.waits", "--latency", tool="probe")
    subprocess.run([program], check=True)
    report = tracer.stop().report
    assert report["events"] == 0 and report["lost"].pop("unwound") == CALLS and nothing_lost(report), report


def test_counters_of_goroutines_are_those_of_a_thread(run, programs, tmp_path):
    """A call that continues in another thread has no counters, and is lost."""
    program, result = programs("go")
    saved = tmp_path / "report.json"
    ran = run("-x", program, "main.large", "--latency", "--with", "page-faults", "--json", "-o", saved, "--", program,
              tool="probe")
    assert ran.code == 0 and ran.text.strip() == result, ran
    report = json.loads(saved.read_text())
    assert report["events"] + report["lost"]["unmatched"] + report["lost"]["unwound"] >= CALLS, report
