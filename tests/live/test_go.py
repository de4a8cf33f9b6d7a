# SPDX-License-Identifier: BSD-2-Clause
"""Names of functions in Go programs without a symbol table, by the table of their runtime."""
import os
import shutil
import subprocess

import pytest

from tally import once, steady, within

SOURCE = """
package main

import "time"

type shape struct{ n int }

//go:noinline
func (s *shape) spin(end time.Time) {
	for time.Now().Before(end) {
		for i := 0; i < 10000; i++ {
			s.n = s.n*31 + i
		}
	}
}

//go:noinline
func work(s *shape, end time.Time) { s.spin(end) }

func main() {
	done := make(chan bool)
	go func() {
		work(&shape{1}, time.Now().Add(400 * time.Millisecond))
		done <- true
	}()
	<-done
}
"""
CHAIN = ["runtime.goexit", "main.main.func1", "main.work", "main.(*shape).spin"]


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go")
@once
@pytest.mark.parametrize("how", ("stripped", "-ldflags=-s", "-buildmode=pie", "symbols"))
def test_chain(run, directory, how):
    """The whole chain from the goroutine's first function, whichever way the symbols went."""
    source, program = directory / "main.go", directory / "program"
    source.write_text(SOURCE)
    flags = [how] if how.startswith("-ldflags") else [how, "-ldflags=-s -w"] if how.startswith("-build") else []
    subprocess.run(["go", "build", *flags, "-o", program, source], check=True, cwd=directory,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"})
    if how == "stripped":
        subprocess.run(["strip", program], check=True)
    steady(lambda: check_chain(run, program))


def check_chain(run, program):
    result = run("--json", "-F", 499, "-U", "--", program, tool="profile")
    stacks = [([f["name"] and f["name"].removesuffix(".abi0") for f in s["frames"]], s["value"])
              for s in result.reports[-1]["stacks"]]
    total = sum(value for _, value in stacks)
    spinning = sum(value for names, value in stacks if names[:len(CHAIN)] == CHAIN)
    assert not [names for names, _ in stacks if None in names and "[incomplete]" not in names], stacks
    within(total > 20 and spinning >= 0.8 * total, stacks)


EVENTS = "syscalls:sys_enter_futex,syscalls:sys_enter_nanosleep"
THREADS = """
package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup

	for i := 0; i < 30; i++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			time.Sleep(10 * time.Millisecond)
			all.Done()
		}()
	}
	all.Wait()
}
"""


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go")
@once
@pytest.mark.parametrize("cgo", ("0", "1"))
def test_threads_begin_without_their_creator(run, directory, cgo):
    """A thread begins with the frame pointer of the one that made it, but is not called by its functions."""
    source, program = directory / "threads.go", directory / "threads"
    source.write_text(THREADS.replace("import (", 'import "C"\n\nimport (') if cgo == "1" else THREADS)
    subprocess.run(["go", "build", "-o", program, source], check=True, cwd=directory,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": cgo})
    begins = 0
    for _ in range(5):
        for stack in run("--json", "-U", EVENTS, "--", program, tool="stackcount").report["stacks"]:
            names = [(frame["name"] or "").removesuffix(".abi0") for frame in stack["frames"]]
            if "runtime.mstart" in names:
                outer = names[:names.index("runtime.mstart")]
                assert not outer or outer[-1] == "runtime.rt0_go" or outer[-1].startswith("crosscall"), names
                begins += 1
    assert begins


SIGNALS = """
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	got := make(chan os.Signal, 100)
	signal.Notify(got, syscall.SIGUSR1)
	for i := 0; i < 100; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-got
		time.Sleep(time.Millisecond)
	}
}
"""


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go")
@once
def test_handlers_return_to_a_function(run, directory):
    """The kernel gives a handler the address of runtime.sigreturn itself to return to: no call is before it."""
    source, program = directory / "signals.go", directory / "signals"
    source.write_text(SIGNALS)
    subprocess.run(["go", "build", "-o", program, source], check=True, cwd=directory,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"})
    callers = set()
    for stack in run("--json", "-U", EVENTS, "--", program, tool="stackcount").report["stacks"]:
        names = [frame["name"] and frame["name"].removesuffix(".abi0") for frame in stack["frames"]]
        if "runtime.sigtramp" in names[1:]:
            callers.add(names[names.index("runtime.sigtramp") - 1])
    callers.discard("[incomplete]")
    assert callers and all((name or "").startswith("runtime.sigreturn") for name in callers), callers
