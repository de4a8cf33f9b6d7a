# SPDX-License-Identifier: BSD-2-Clause
"""Compilers, linkers and layouts of programs: a chain of five functions is counted whole and by name, whether the
program runs when the measurement begins or is its command."""

import os
import shutil
import subprocess

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

	if (argc > 1 && (write(1, "r", 1) != 1 || read(0, &c, 1) < 0))
		return 1;
	d1(%d);
	return 0;
}
""" % N

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
    if std::env::args().count() > 1 {
        std::io::stdout().write_all(b"r").unwrap();
        std::io::stdout().flush().unwrap();
        let _ = std::io::stdin().read(&mut [0u8]);
    }
    d1(%d);
}
""" % N

# --- what is built ---------------------------------------------------------------------------------

# {layout: (flags, are there names)}
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
LAYOUTS = {"gcc": C_LAYOUTS, "clang": C_LAYOUTS, "musl-gcc": C_LAYOUTS, "rustc": RUST_LAYOUTS}
LINKERS = "bfd", "gold", "lld", "mold"
# Few enough for each landing; test_layouts() has all of them.
QUICK = ("gcc", "bfd", "pie"), ("gcc", "lld", "pie"), ("gcc", "mold", "no-pie"), ("clang", "lld", "static")


def build(directory, compiler, linker, flags, name):
    """A program, or why there is none: this compiler cannot link with that linker."""
    for tool in (compiler, f"ld.{linker}"):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}")
    path = directory / name
    if compiler == "rustc":
        source = directory / "chain.rs"
        source.write_text(RUST)
        line = [compiler, "-O", "-C", f"link-arg=-fuse-ld={linker}", *flags, source, "-o", path]
    else:
        source = directory / "chain.c"
        source.write_text(C)
        line = [compiler, "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fasynchronous-unwind-tables",
                f"-fuse-ld={linker}", *flags, source, "-o", path]
    made = subprocess.run(line, capture_output=True, text=True, cwd=directory, timeout=tally.PATIENCE)
    if made.returncode or subprocess.run([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
        return None, made.stderr
    return path, ""


# --- what is counted -------------------------------------------------------------------------------

def count(tool, program, scope):
    options = ("--json", "-U", EVENT)
    if scope == "command":
        return tool(*options, "--", program, tool="stackcount").wait().report
    with subprocess.Popen([program, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
        assert load.stdout.read(1) == b"r"
        counting = tool(*options, "-p", load.pid, tool="stackcount")
        load.stdin.close()
        return counting.wait().report       # it ends with the program


def check(report, program, with_names):
    """All of the events have the whole chain. Without names, frames of the program are as many."""
    found = {}
    for stack in report["stacks"]:
        frames = stack["frames"]
        names = tuple(f["name"].rpartition("::")[2] if f["name"] else None for f in frames)
        if with_names and names[-len(CHAIN):] == CHAIN and "[incomplete]" not in names:
            key = "whole"
        elif not with_names and [f["module"] for f in frames[-len(CHAIN):]] == [program.name] * len(CHAIN) \
                and "[incomplete]" not in names:
            key = "whole"
        else:
            key = names
        found[key] = found.get(key, 0) + stack["value"]
    return [] if found == {"whole": N} else [found]


def test_layouts_of_each_landing(tool, directory):
    wrong = {}
    for compiler, linker, layout in QUICK:
        if not shutil.which(compiler) or not shutil.which(f"ld.{linker}"):
            continue
        flags, with_names = LAYOUTS[compiler][layout]
        path, _ = build(directory, compiler, linker, flags, f"{compiler}-{linker}")
        if path and (found := check(count(tool, path, "command"), path, with_names)):
            wrong[compiler, linker, layout] = found
    assert not wrong, wrong


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("compiler", LAYOUTS)
def test_layouts(tool, directory, compiler, linker):
    wrong, not_built = {}, {}
    for number, (layout, (flags, with_names)) in enumerate(LAYOUTS[compiler].items()):
        path, why = build(directory, compiler, linker, flags, f"chain{number}")
        if not path:
            not_built[layout] = why
            continue
        for scope in ("command", "-p"):
            if found := check(count(tool, path, scope), path, with_names):
                wrong[layout, scope] = found
    assert not wrong, wrong
    if len(not_built) == len(LAYOUTS[compiler]):
        pytest.skip(f"{compiler} does not link with {linker}: {not_built}")
