# SPDX-License-Identifier: BSD-2-Clause
"""Compilers, linkers and layouts of programs: a chain of four functions is counted whole and by name, whether the
program runs when the measurement begins, among all others or alone, or is the tool's command."""

import json
import os
import shutil
import subprocess
import time

import pytest

import tally

pytestmark = [
    tally.once,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="makes system calls by hand"),
]

EVENT = "syscalls:sys_enter_getppid"
N = 50
CHAIN = ("d1", "d2", "d3", "d4")

C = """
#include <unistd.h>

volatile long sum;

#define CALL(ret) __asm__ volatile("syscall" : "=a"(ret) : "0"(110L) : "rcx", "r11", "memory")
#define STEP(name, next) __attribute__((noinline)) void name(long n) { next(n); sum += n; }

__attribute__((noinline)) void d4(long n)
{
	long ret;

	while (n--) {
		CALL(ret);
		sum += ret;
	}
}
STEP(d3, d4)
STEP(d2, d3)
STEP(d1, d2)

int main(int argc, char **argv)
{
	char c;

	if (argc == 1)
		d1(%d);
	else
		while (write(1, "r", 1) == 1 && read(0, &c, 1) == 1)
			d1(%d);
	return 0;
}
""" % (N, N)

RUST = """
use std::io::{Read, Write};
use std::sync::atomic::{AtomicI64, Ordering};

static SUM: AtomicI64 = AtomicI64::new(0);

#[inline(never)]
fn d4(n: i64) {
    for _ in 0..n {
        let mut ret: i64 = 110;
        unsafe { std::arch::asm!("syscall", inout("rax") ret, out("rcx") _, out("r11") _) };
        SUM.fetch_add(ret, Ordering::Relaxed);
    }
}
#[inline(never)]
fn d3(n: i64) { d4(n); SUM.fetch_add(n, Ordering::Relaxed); }
#[inline(never)]
fn d2(n: i64) { d3(n); SUM.fetch_add(n, Ordering::Relaxed); }
#[inline(never)]
fn d1(n: i64) { d2(n); SUM.fetch_add(n, Ordering::Relaxed); }

fn main() {
    if std::env::args().count() == 1 {
        return d1(%d);
    }
    loop {
        std::io::stdout().write_all(b"r").unwrap();
        std::io::stdout().flush().unwrap();
        if std::io::stdin().read(&mut [0u8]).unwrap() == 0 {
            break;
        }
        d1(%d);
    }
}
""" % (N, N)

GO = """
package main

import (
	"os"
	"syscall"
)

var sum uintptr

//go:noinline
func d4(n int) {
	for i := 0; i < n; i++ {
		ret, _, _ := syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
		sum += ret
	}
}

//go:noinline
func d3(n int) { d4(n); sum++ }

//go:noinline
func d2(n int) { d3(n); sum++ }

//go:noinline
func d1(n int) { d2(n); sum++ }

func main() {
	if len(os.Args) == 1 {
		d1(%d)
		return
	}
	for {
		os.Stdout.WriteString("r")
		if n, _ := os.Stdin.Read(make([]byte, 1)); n == 0 {
			break
		}
		d1(%d)
	}
}
""" % (N, N)

# --- what is built ---------------------------------------------------------------------------------

# {layout: (flags, whether it has names)}
C_LAYOUTS = {
    "pie": (("-fPIE", "-pie"), True),
    "no-pie": (("-fno-PIE", "-no-pie"), True),
    "static": (("-fno-PIE", "-static"), True),
    "frame pointers": (("-fPIE", "-pie", "-fno-omit-frame-pointer"), True),
    "stripped": (("-fPIE", "-pie", "-s"), False),
    "split debug": (("-fPIE", "-pie", "-g", "-gsplit-dwarf"), True),
}
RUST_LAYOUTS = {
    "pie": ((), True),
    "no-pie": (("-C", "relocation-model=static"), True),
    "frame pointers": (("-C", "force-frame-pointers=yes"), True),
    "stripped": (("-C", "strip=symbols"), False),
}
# The runtime's tables name functions in a stripped program, too.
GO_LAYOUTS = {
    "pie": (("-buildmode=pie", "{}"), True),
    "no-pie": (("-buildmode=exe", "{}"), True),
    "static": (("-buildmode=exe", "{} -static"), True),
    "stripped": (("-buildmode=exe", "{} -s"), True),     # a PIE has no section for them
}
LAYOUTS = {"gcc": C_LAYOUTS, "clang": C_LAYOUTS, "musl-gcc": C_LAYOUTS, "rustc": RUST_LAYOUTS, "go": GO_LAYOUTS}
LINKERS = "bfd", "gold", "lld", "mold"
# Few enough for each landing; test_layouts() has all of them.
QUICK = ("gcc", "bfd", "pie"), ("gcc", "lld", "pie"), ("gcc", "mold", "no-pie"), ("clang", "lld", "static")


def build(compiler, linker, flags, path):
    """A program, or the reason there is none: this compiler cannot link with that linker."""
    for tool in (compiler, f"ld.{linker}"):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}")
    source = path.parent / ("chain" + {"rustc": ".rs", "go": ".go"}.get(compiler, ".c"))
    if compiler == "rustc":
        source.write_text(RUST)
        line = [compiler, "-O", "-C", f"link-arg=-fuse-ld={linker}", *flags, source, "-o", path]
    elif compiler == "go":
        source.write_text(GO)
        mode, extldflags = flags[0], flags[1].format(f"-fuse-ld={linker}")
        line = [compiler, "build", mode, f"-ldflags=-linkmode=external '-extldflags={extldflags}'", "-o", path, source]
    else:
        source.write_text(C)
        line = [compiler, "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fasynchronous-unwind-tables",
                f"-fuse-ld={linker}", *flags, source, "-o", path]
    made = subprocess.run(line, capture_output=True, text=True, cwd=path.parent, timeout=tally.PATIENCE,
                          env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": "1"})
    if made.returncode or subprocess.run([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
        return None, made.stderr
    return path, ""


def name(number):
    """A unique name: -a tells the program from others by it."""
    return f"chain{number}.{os.getpid()}"


# --- what is counted -------------------------------------------------------------------------------

SCOPES = "command", "-p", "-a"


def count(tool, program, with_names, scope):
    """The stacks of a round of N events, if some are wrong, else nothing."""
    options = ("--json", "-U", EVENT)
    if scope == "command":
        return check(tool(*options, "--", program, tool="stackcount").wait().reports, program, with_names)
    with subprocess.Popen([program, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as load:
        assert load.stdout.read(1) == b"r"
        if scope == "-p":
            counting = tool(*options, "-p", load.pid, tool="stackcount")
            load.stdin.write(b"x")
            load.stdin.close()
            return check(counting.wait().reports, program, with_names)      # it ends with the program
        counting = tool(*options, "-a", "-I", "200ms", tool="stackcount")
        return wrong_in_all(counting, load, program, with_names)


def wrong_in_all(counting, load, program, with_names):
    """-a meets the program at its first events, and has its tables a little later: from then on each round is whole."""
    def wrong_in_a_round():
        before = counting.lines()
        load.stdin.write(b"x")
        assert load.stdout.read(1) == b"r"
        counting.await_lines(2)
        after = counting.lines()
        written = os.pread(counting.out.fileno(), os.fstat(counting.out.fileno()).st_size, 0)
        return check(map(json.loads, written.splitlines()[before:after]), program, with_names)

    deadline = time.monotonic() + tally.PATIENCE
    while (wrong := wrong_in_a_round()) and time.monotonic() < deadline:
        pass
    return wrong or wrong_in_a_round()


def chain(frames):
    """The program's own functions called last: Go's functions that make the system call come after them."""
    while frames and (frames[-1]["name"] or "").startswith(("syscall.", "runtime/internal/syscall.")):
        frames = frames[:-1]
    return frames[-len(CHAIN):]


def check(reports, program, with_names):
    """Every event has the whole chain. Without names, the program has as many frames. -a counts other programs, too."""
    found = {}
    for stack in (stack for report in reports for stack in report["stacks"]):
        frames = stack["frames"]
        if not any(f["module"] == program.name for f in frames):
            continue
        names = tuple(f["name"] and f["name"].removeprefix("main.").rpartition("::")[2] for f in chain(frames))
        modules = {f["module"] for f in chain(frames)}
        whole = names == CHAIN if with_names else len(names) == len(CHAIN)
        if modules == {program.name} and whole and "[incomplete]" not in [f["name"] for f in frames]:
            key = "whole"
        else:
            key = tuple(f["name"] or f["module"] for f in frames)
        found[key] = found.get(key, 0) + stack["value"]
    return [] if found == {"whole": N} else [found]


def test_layouts_of_each_landing(tool, directory):
    wrong = {}
    for number, (compiler, linker, layout) in enumerate(QUICK):
        if not shutil.which(compiler) or not shutil.which(f"ld.{linker}"):
            continue
        flags, with_names = LAYOUTS[compiler][layout]
        path, _ = build(compiler, linker, flags, directory / name(number))
        if path and (found := count(tool, path, with_names, "command")):
            wrong[compiler, linker, layout] = found
    assert not wrong, wrong


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("compiler", LAYOUTS)
def test_layouts(tool, directory, compiler, linker):
    wrong, not_built = {}, {}
    for number, (layout, (flags, with_names)) in enumerate(LAYOUTS[compiler].items()):
        path, why = build(compiler, linker, flags, directory / name(number))
        if not path:
            not_built[layout] = why
            continue
        for scope in SCOPES:
            if found := count(tool, path, with_names, scope):
                wrong[layout, scope] = found
    assert not wrong, wrong
    if len(not_built) == len(LAYOUTS[compiler]):
        pytest.skip(f"{compiler} does not link with {linker}: {not_built}")
