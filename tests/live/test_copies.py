# SPDX-License-Identifier: BSD-2-Clause
"""Several copies of a library, as in containers, in chroots, and for 32-bit programs: its name means the file of
the process or the command; where it means all processes, a report tells how many have another
file."""

import contextlib
import os
import re
import shutil
import subprocess

import pytest

import tally
from tally import Trigger, flaws

# throws makes half as many longjmp()s; leaks keeps known memory this often.
N = 200

pytestmark = tally.once


def mapped(name, pid="self"):
    return next(line.split()[-1] for line in open(f"/proc/{pid}/maps", encoding="utf8") if f"/{name}" in line)


@pytest.fixture
def ends():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def elsewhere(ends, tmp_path):
    """Starts a trigger with its own C library, in its own mount namespace."""
    ours = mapped("libc.so.6")
    theirs = tmp_path / "libc.so.6"
    shutil.copy(ours, theirs)

    def start(*args):
        load = Trigger(*args, command=("unshare", "-m", "sh", "-c", f"mount --bind {theirs} {ours}; exec \"$@\"", "-"))
        ends.callback(load.close)
        return load

    return start


def others(report):
    """The number of processes with another file, according to the report."""
    found = re.search(r"processes with another file of that name are not traced \((\d+)\): use -p", report["source"])
    return int(found[1]) if found else 0


@pytest.mark.parametrize("line", (
    ("probe", "-x", "libc", "longjmp", "--count"), ("stackcount", "-x", "libc", "-U", "longjmp"),
    ("stat", "-x", "libc", "-e", "longjmp"), ("memleak",)), ids=lambda line: line[0])
def test_other_copies_are_told_of(tool, elsewhere, line):
    """This machine may have more of them; for a process named on the command line there are none."""
    def of(*args):
        return others(tool("--json", *args, *line[1:], tool=line[0]).stop().report)

    load = elsewhere("throws", N)
    assert of() >= 1
    assert of("-p", load.pid) == 0


def test_memory_of_a_named_process(tool, elsewhere):
    load = elsewhere("leaks", 30)
    tracer = tool("--json", "-p", load.pid, tool="memleak")
    load.go()
    left = load.done()[3]
    report = tracer.stop().report
    assert report["events"] == left
    # The library is shown by its name, and not by the path by which its file was opened.
    assert mapped("libc.so.6", load.pid) in report["source"] and "map_files" not in report["source"], report["source"]


def chroot(directory, name):
    """A directory with this trigger and its libraries."""
    program = tally.BUILD / "triggers" / name
    linked = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    for file in [str(program)] + re.findall(r"(/\S+) \(0x", linked):
        at = directory / file.lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, at)
    return ("chroot", str(directory))


@pytest.mark.parametrize("how", ("libc", "libc.so.6", "inside", "outside"))
def test_a_library_in_a_chroot(tool, trigger, tmp_path, how):
    """By its name, by its path inside the chroot, and by its path outside."""
    load = trigger("throws", N, command=chroot(tmp_path, "throws"))
    inside = mapped("libc.so.6", load.pid)[len(str(tmp_path)):]
    how = {"inside": inside, "outside": f"{tmp_path}{inside}"}.get(how, how)
    tracer = tool("--json", "-p", load.pid, "-x", how, "longjmp", "--count", tool="probe")
    load.go()
    load.done()
    assert [row["count"] for row in tracer.stop().report["rows"]] == [N // 2]


def test_memory_in_a_chroot(tool, trigger, tmp_path):
    load = trigger("leaks", 30, command=chroot(tmp_path, "leaks"))
    tracer = tool("--json", "-p", load.pid, tool="memleak")
    load.go()
    assert load.done()[3] == tracer.stop().report["events"]


def test_functions_of_a_process(run, tmp_path):
    """list -x -p: those of the file that the process has mapped."""
    source, library = tmp_path / "own.c", tmp_path / "libm.so.6"
    source.write_text("int only_theirs(void) { return 1; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    with subprocess.Popen(["/usr/bin/python3", "-c", f"""
import ctypes
ctypes.CDLL({str(library)!r})
print(flush=True)
input()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        line = ("-x", "libm.so.6", "--functions", "only_theirs", "--json")
        found = run(*line, "-p", process.pid, tool="list")
        missing = run(*line, tool="list")
        process.stdin.close()
    assert [row["function"] for row in found.report["rows"]] == ["only_theirs"], found
    assert missing.code and "no function" in missing.stderr, missing
    gone = run(*line, "-p", process.pid, tool="list")
    assert gone.code == 1 and "no process" in gone.stderr, gone
    assert run("--functions", "-p", "1", tool="list").code == 2


# Needs no headers or start files of 32-bit programs, which are separate packages.
SMALL = """
void *malloc(unsigned int size);
int getsid(int pid);
void exit(int status);

void *volatile kept;
__attribute__((noinline)) void leak_small(void) { kept = malloc(1000); }
__attribute__((force_align_arg_pointer)) void _start(void)
{
	int i;

	for (i = 0; i < 300; i++)
		getsid(0);
	for (i = 0; i < 40; i++)
		leak_small();
	exit(0);
}
"""


@pytest.fixture
def small(tmp_path):
    """A 32-bit program with a 32-bit C library: calls getsid() 300 times, and leaks 40 blocks of 1,000 bytes."""
    library, loader = (next((path for path in paths if os.path.exists(path)), None) for paths in
                       (("/lib32/libc.so.6", "/lib/i386-linux-gnu/libc.so.6"), ("/lib/ld-linux.so.2",)))
    if not library or not loader or not tally.runs_32_bit_programs():
        pytest.skip("this machine has no C library for 32-bit programs")
    source, program = tmp_path / "small.c", tmp_path / "small"
    source.write_text(SMALL)
    subprocess.run(["cc", "-m32", "-O1", "-fno-omit-frame-pointer", "-fno-pie", "-no-pie", "-ffreestanding",
                    "-nostdlib", "-o", program, source, library, f"-Wl,--dynamic-linker={loader}"], check=True)
    subprocess.run([program], check=True)
    return program


@pytest.mark.parametrize("line", (
    ("probe", "-x", "libc", "getsid", "--count"), ("probe", "-x", "libc.so.6", "getsid", "--count"),
    ("stat", "-x", "libc", "-e", "getsid"), ("stackcount", "-x", "libc", "-U", "getsid")), ids=" ".join)
def test_the_library_of_a_32_bit_command(run, small, line):
    report = run("--json", *line[1:], "--", small, tool=line[0]).report
    assert report["events"] == 300, report
    assert not any(flaws(report).values()), report


def test_memory_of_a_32_bit_command(run, small):
    report = run("--json", "--", small, tool="memleak").report
    found = [row for row in report["rows"] if row["stack"].startswith("leak_small")]
    assert [(row["count"], row["bytes"]) for row in found] == [(40, 40000)], report


# --- programs with another C library, or none ----------------------------------------------------

LEAKY = """
#include <stdlib.h>
#include <unistd.h>

void *volatile kept[50];

__attribute__((noinline)) void keep(void)
{
	int i;

	for (i = 0; i < 50; i++)
		kept[i] = malloc(1000);
}

int main(void)
{
	keep();
	while (getenv("STAYS"))
		pause();
	return 0;
}
"""
NO_LIBRARY = """
void _start(void)
{
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
"""
BUILDS = {
    "dynamic": ("cc", LEAKY), "static": ("cc", LEAKY, "-static"), "none": ("cc", NO_LIBRARY, "-static", "-nostdlib"),
    "musl": ("musl-gcc", LEAKY), "musl-static": ("musl-gcc", LEAKY, "-static"),
}
KEPT = (50, 50_000)


def build(directory, how):
    compiler, text, *flags = BUILDS[how]
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    if how == "none" and os.uname().machine != "x86_64":
        pytest.skip("makes its system call by hand")
    source, program = directory / "leaky.c", directory / how
    source.write_text(text)
    subprocess.run([compiler, "-O1", "-g", *flags, "-o", program, source], check=True)
    return program


def kept(report):
    """Allocations and bytes outstanding, by the program's own function."""
    rows = [row for row in report["rows"] if "keep" in row["stack"].split(" < ")[:2]]
    return sum(row["count"] for row in rows), sum(row["bytes"] for row in rows)


@pytest.mark.parametrize("how", (how for how in BUILDS if how != "none"))
def test_memory_of_a_command(run, tmp_path, how):
    result = run("--json", "--", build(tmp_path, how), tool="memleak")
    assert kept(result.report) == KEPT, result


@pytest.mark.parametrize("how", ("dynamic", "musl"))
def test_a_function_of_a_command(run, tmp_path, how):
    """The C library is the one that this program will map, as found by its own loader."""
    program = build(tmp_path, how)
    counted = run("--json", "-x", "libc", "malloc", "--count", "--", program, tool="probe").report
    assert sum(row["count"] for row in counted["rows"]) >= KEPT[0], counted
    counted = run("--json", "-x", "libc", "malloc", "--", program, tool="stackcount").report
    assert counted["events"] >= KEPT[0], counted


LACKING = (("memleak",), ("probe", "-x", "libc", "malloc"), ("stackcount", "-x", "libc", "malloc"),
           ("funcgraph", "-x", "libc", "malloc"))


@pytest.mark.parametrize("line", LACKING, ids=lambda line: line[0])
def test_a_command_without_the_library(run, tmp_path, line):
    """The text claims nothing about memory or calls that nobody looked at, and the source says why."""
    name = mapped("libc.so.6")
    program = build(tmp_path, "none")
    text = run(*line[1:], "--", program, tool=line[0]).text
    assert re.search(r"in programs that map \S+libc.so.6; other programs, such as static", " ".join(text.split())), text
    assert "has been freed" not in text and "outstanding" not in text, text
    lacks = "none and its libraries have no malloc()" if line == LACKING[0] else "none is not linked with "
    source = run("--json", *line[1:], "--", program, tool=line[0]).report["source"]
    assert lacks in source and os.path.basename(name) in source, source


def test_a_command_that_changes_its_root(run, tmp_path):
    """The frees of the first program prove nothing about the second, whose library could not be known."""
    text = run("--", *chroot(tmp_path, "spin"), tally.BUILD / "triggers" / "spin", "0", tool="memleak").text
    assert "no outstanding allocations by probed functions" in text, text
    assert "other programs, such as static and Go programs, are not seen" in text, text


def test_all_that_is_outstanding_is_young(run, tmp_path):
    program = build(tmp_path, "dynamic")
    text = run("--older", "1000", "--", program, tool="memleak").text
    assert "everything outstanding is younger than 16.7 min (--older): 50 allocations" in text, text


@pytest.mark.parametrize("how, lacks", (("dynamic", False), ("static", True)))
def test_a_process_without_the_library(run, ends, tmp_path, how, lacks):
    program = build(tmp_path, how)
    process = subprocess.Popen([program], env={"STAYS": "1"})
    ends.callback(tally.end_process, process)
    for name in ("libc.so.6", mapped("libc.so.6")):
        report = run("--json", "-x", name, "malloc", "-p", process.pid, "-d", "0.1", tool="probe").report
        assert (f"process {process.pid} has not mapped " in report["source"]) == lacks, report["source"]
