# SPDX-License-Identifier: BSD-2-Clause
"""-p without -x: functions are looked for in all files that the process has mapped, and in those like a glob."""

import json
import shutil
import subprocess

import pytest

from probing import Probe, alike, counts_by, nothing_lost, report_of
from tally import PATIENCE, Trigger, needs_dwarf

pytestmark = pytest.mark.exact

N = 5
LIBRARY = """
__attribute__((noinline)) int shared_work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
__attribute__((noinline)) int both_work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
int library_calls(int n) { return shared_work(n) + both_work(n); }
"""
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
void *volatile keep;
int library_calls(int n);
int shared_work(int n);
__attribute__((noinline)) static int both_work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
__attribute__((noinline)) int vfs_read(int n) { __asm__ volatile("" : "+r"(n)); return n; }
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]), i;

	puts("ready"), fflush(stdout), getchar();
	for (i = 0; i < n; i++)
		library_calls(i), both_work(i), both_work(i), vfs_read(i), keep = malloc(77777), free(keep);
	puts("done"), fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    directory = tmp_path_factory.mktemp("mapped")
    (directory / "library.c").write_text(LIBRARY)
    (directory / "program.c").write_text(PROGRAM)
    library, path = directory / "libworks.so.1", directory / "program"
    for command in (["-shared", "-fPIC", directory / "library.c", "-o", library],
                    [directory / "program.c", library, f"-Wl,-rpath,{directory}", "-o", path]):
        subprocess.run(["gcc", "-O1", *command], check=True, timeout=PATIENCE)
    return path


CASES = (
    (("shared_work", "--by", "func"), {"libworks.so.1:shared_work": N}, "libworks.so.1"),
    # In both files: each is told from the other.
    (("both_work", "--by", "func"), {"program:both_work": 2 * N, "libworks.so.1:both_work": N},
     "program, libworks.so.1"),
    (("-x", "lib*", "both_work", "--by", "func"), {"libworks.so.1:both_work": N}, "libworks.so.1"),
    (("-x", "*/program", "*_work", "--by", "func"), {"program:both_work": 2 * N}, "program"),
    (("malloc", "--filter", "arg1 == 77777", "--by", "func"), {"libc.so.6:malloc": N}, None),
    (("shared_work%return", "--by", "func,(int)$retval"),
     {("libworks.so.1:shared_work%return", i): 1 for i in range(N)}, "libworks.so.1"),
)


@pytest.mark.parametrize("args, wanted, files", CASES)
def test_functions_of_what_is_mapped(tool, ends, program, args, wanted, files):
    load = Trigger(program, N)
    ends.callback(load.close)
    report = report_of(Probe(tool, load, *args).work())
    columns = [name for name in report["rows"][0] if name != "count"]
    assert counts_by(report, *columns) == wanted and nothing_lost(report)
    assert files is None or report["source"].endswith(f"; of {files}"), report["source"]


def test_a_program_that_was_replaced(tool, ends, program, tmp_path):
    """The running one is probed, under its name: an update of a package leaves services with their old files."""
    running = shutil.copy(program, tmp_path / "service")
    load = Trigger(running, N)
    ends.callback(load.close)
    running.unlink()
    shutil.copy("/bin/true", running)
    report = report_of(Probe(tool, load, "both_work", "--by", "func").work())
    assert counts_by(report, "func") == {"service:both_work": 2 * N, "libworks.so.1:both_work": N}
    assert report["source"].endswith("; of service, libworks.so.1"), report["source"]


def test_a_glob_that_the_kernel_matches_too(run, tool, ends, program):
    """With -x '*' it is about the process; without, about the kernel, which is said, or not if that could not be
    probed."""
    load = Trigger(program, N)
    ends.callback(load.close)
    doctor = json.loads(run("doctor", "--json", tool="tally").text)
    features = {row["feature"]: row["status"] for row in doctor["rows"]}
    probes = any(features.get(name) == "ok" for name in ("kprobe", "kprobe.multi", "fentry"))
    result = run("-n", "-p", load.pid, "vfs_rea[d]", tool="probe")
    told = "'vfs_rea[d]' matches kernel functions; -x '*' selects" in result.stderr
    assert result.code == 0 and told == probes, result
    report = report_of(Probe(tool, load, *(("-x", "*") if probes else ()), "vfs_rea[d]", "--by", "func").work())
    assert counts_by(report, "func") == {"program:vfs_read": N} and nothing_lost(report), report


METHOD = """
#include <stdio.h>
namespace shop { struct till { __attribute__((noinline)) int take(int n) { __asm__ volatile("" : "+r"(n)); return n; } }; }
int main()
{
	shop::till till;

	puts("ready"), fflush(stdout), getchar();
	for (int i = 0; i < %d; i++)
		till.take(i);
	puts("done"), fflush(stdout);
	while (getchar() != EOF)
		;
}
""" % N


@needs_dwarf
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
def test_a_method_by_its_last_name(tool, ends, tmp_path):
    """No symbol is called so: by the debug information, as with -x."""
    (tmp_path / "method.cc").write_text(METHOD)
    subprocess.run(
        ["g++", "-g", "-O1", tmp_path / "method.cc", "-o", tmp_path / "method"], check=True, timeout=PATIENCE
    )
    load = Trigger(tmp_path / "method")
    ends.callback(load.close)
    report = report_of(Probe(tool, load, "take", "--by", "func").work())
    assert counts_by(report, "func") == {"method:take": N} and nothing_lost(report), report


@alike
def test_what_is_not_there(run, ends, program):
    """The kernel's functions come first, and MODULE:NAME is a module's."""
    load = Trigger(program, N)
    ends.callback(load.close)
    pid = str(load.pid)
    for args, said in ((("-p", pid, "no_such_work"), "'no_such_work' in the kernel, nor in any of the "),
                       (("-p", pid, "ns::no::such"), "in the kernel, nor in any of the "),
                       (("-p", pid, "-x", "lib*", "no_such_work"), "named 'no_such_work' in any of the "),
                       (("-p", pid, "-x", "none*", "work"), "or library matching 'none*'"),
                       (("-x", "lib*", "shared_work"),
                        "a glob needs -p: it matches the files that those processes have mapped"),
                       (("shared_work",), "no event 'shared_work', and no such function"),
                       (("-p", pid, "nomod:shared_work"), "no tracepoint")):
        result = run("-n", *args, tool="probe")
        assert result.code and said in result.stderr, result
    result = run("-n", "-p", pid, "vfs_read", tool="probe")
    assert "program:vfs_read" not in result.text + result.stderr
    result = run("-n", "-p", pid, "both_work", tool="stackcount")
    assert result.code == 0, result
