# SPDX-License-Identifier: BSD-2-Clause
"""syscount against strace -c on the same program, against programs with known calls, and against itself: over
intervals, by other keys, with and without times."""

import os
import re
import signal
import subprocess
from collections import namedtuple

import pytest

import tally
from tally import BUILD, KERNEL, by_key, flaws, scaled, settle, wait_until

CALLMIX = BUILD / "triggers" / "callmix"
MIX = [str(CALLMIX), "mix", "32"]
MODES = [(), ("--latency",)]
MODE_NAMES = ["counts", "times"]

# Counts of callmix mix.
FORKED, ALONE, BAD_READS, NO_FILES, BAD_PATHS = 13, 1000, 7, 5, 3

Calls = namedtuple("Calls", "calls errors")


def calls(report):
    """{syscall: Calls} of a table by system call."""
    found = {row["syscall"]: Calls(row["calls"], row["errors"]) for row in report["rows"]}
    assert len(found) == len(report["rows"]), "a call is there twice"
    assert report["events"] == sum(c.calls for c in found.values())
    return found


def nothing_lost(*reports):
    for report in reports:
        assert not any(flaws(report).values()), report["lost"]


def counted(tool, *options, command=MIX):
    """The report of a run of callmix mix without losses."""
    tracer = tool("--json", *options, "--", *command, tool="syscount", ready=False)
    report = tracer.wait().report
    nothing_lost(report)
    return report


@pytest.fixture(scope="module")
def by_strace(tmp_path_factory):
    """{syscall: Calls} of callmix mix, by strace -c -f."""
    path = tmp_path_factory.mktemp("strace") / "summary"
    subprocess.run(["strace", "-c", "-f", "-o", path, *MIX], check=True, timeout=tally.PATIENCE)
    found, table = {}, ""
    for line in path.read_text().splitlines():
        mode = re.search(r"usage summary for (\w+)(?: bit)? mode", line)
        row = re.match(r" *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d+)? +(\w+)$", line)
        if mode:
            table = "@" + mode[1]
        elif row and row[3] != "total":
            found[row[3] + table] = Calls(int(row[1]), int(row[2] or 0))
    return found


def named_by_strace(found):
    """Without numbers that have no name: strace -c has no line for them."""
    return {name: c for name, c in found.items() if name not in ("(no such call)", "syscall_999")}


# --- counts -------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
def test_strace(tool, by_strace, options):
    """Calls and errors are those of strace -c -f, of threads and children too: fork, vfork, execve and execveat, signal
    handlers, 32-bit calls."""
    found = calls(counted(tool, *options))
    expected = dict(by_strace)
    if not options:     # the registers have execve's number by then
        expected["execve"] = Calls(3, 0)
        del expected["execveat"]
    # x32 has no table here: its numbers are beyond the others.
    expected.pop("getppid@x32")
    assert named_by_strace(found) == expected
    assert found["syscall_999"] == Calls(2, 2)
    assert found["(no such call)"] == Calls(4 + 6, 4 + 6)
    assert found["getppid"] == Calls(ALONE + FORKED, 0)
    assert found.get("getpid@32") == (Calls(17, 0) if tally.makes_32_bit_calls() else None)
    assert found["rt_sigreturn"] == Calls(2, 0)
    assert "exit_group" not in found and "exit" not in found


@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
def test_errors(tool, options):
    """Errors by name; --errno and --failed leave other calls out, and count the same."""
    report = counted(tool, *options, "--by", "syscall,errno", "-e", "read,openat,getppid")
    rows = {(row["syscall"], row["errno"]): row for row in report["rows"]}
    assert rows["read", "EBADF"]["calls"] == rows["read", "EBADF"]["errors"] == BAD_READS
    assert rows["openat", "ENOENT"]["calls"] == NO_FILES
    assert rows["openat", "EFAULT"]["calls"] == BAD_PATHS
    assert rows["getppid", "success"]["calls"] == ALONE + FORKED
    assert rows["getppid", "success"]["errors"] == 0
    assert ("getppid", "EPERM") not in rows

    failed = counted(tool, *options, "--failed", "-e", "read,openat,getppid")
    assert calls(failed) == {"read": Calls(BAD_READS, BAD_READS),
                             "openat": Calls(NO_FILES + BAD_PATHS, NO_FILES + BAD_PATHS)}
    faults = counted(tool, *options, "--errno", "EFAULT", "-e", "openat")
    assert calls(faults) == {"openat": Calls(BAD_PATHS, BAD_PATHS)}
    by_number = counted(tool, *options, "--errno", "9", "--by", "errno", "-e", "!ioctl")
    assert [(row["errno"], row["calls"]) for row in by_number["rows"]] == [("EBADF", BAD_READS)]


@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
def test_sets(tool, by_strace, options):
    """-e: names, globs, classes, and exclusions."""
    assert calls(counted(tool, *options, "-e", "getppid")) == {"getppid": Calls(1013, 0)}
    of_32_bits = {"getpid@32"} if tally.makes_32_bit_calls() else set()
    assert set(calls(counted(tool, *options, "-e", "get*id"))) == {"getppid", "getpid", "gettid"} | of_32_bits
    assert set(calls(counted(tool, *options, "-e", "getppid", "-e", "gettid"))) == {"getppid", "gettid"}
    memory = calls(counted(tool, *options, "-e", "%memory"))
    assert {"mmap", "mprotect", "munmap", "brk"} == set(memory)
    assert memory["mmap"] == by_strace["mmap"]
    rest = calls(counted(tool, *options, "-e", "!%memory,getppid"))
    assert not set(rest) & set(memory) and "getppid" not in rest and rest["read"].errors == 7


@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
def test_keys(tool, options):
    """By process, thread, name: other sums of the same calls."""
    report = counted(tool, *options, "--by", "pid,syscall", "-e", "getppid,gettid")
    found = sorted((row["syscall"], row["calls"], row["comm"]) for row in report["rows"])
    assert found == [("getppid", FORKED, "callmix"), ("getppid", ALONE, "callmix"),
                     ("gettid", 11, "callmix")]
    report = counted(tool, *options, "--by", "pid", "-e", "getppid,gettid")
    assert sorted(row["calls"] for row in report["rows"]) == [FORKED, ALONE + 11]
    report = counted(tool, *options, "-L", "-e", "getppid,gettid")
    assert sorted(row["calls"] for row in report["rows"]) == [11, FORKED, ALONE]
    report = counted(tool, *options, "--by", "comm", "-e", "getppid")
    assert [(row["comm"], row["calls"]) for row in report["rows"]] == [("callmix", ALONE + FORKED)]
    report = counted(tool, *options, "--by", "cpu,syscall", "-e", "getppid")
    assert sum(row["calls"] for row in report["rows"]) == ALONE + FORKED


@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
@pytest.mark.parametrize("nthreads", (1, 4))
def test_many(tool, trigger, options, nthreads):
    """Each of many calls by several threads at once. Where programs on these tracepoints can be preempted (7.0), the
    kernel skips some and counts them: no other call is missing."""
    each = scaled(100000)
    load = trigger("syscalls", nthreads, f"110:{each}", f"0:{each}")
    tracer = tool("--json", *options, "-p", load.pid, "-e", "getppid,read", tool="syscount")
    load.go()
    load.done()
    report = tracer.stop().report
    found = calls(report)
    lost = dict(report["lost"])
    skipped = lost.pop("recursion")
    assert not any(lost.values()), lost
    assert KERNEL >= (7, 0) or not skipped
    missing = nthreads * each * 2 - found["getppid"].calls - found["read"].errors
    assert missing <= skipped, found
    assert skipped or found["getppid"] == Calls(nthreads * each, 0)


@pytest.mark.parametrize("options", MODES, ids=MODE_NAMES)
def test_refused(tool, trigger, options):
    """A call that seccomp refuses has an exit, but no entry."""
    load = trigger("callmix", "refused")
    tracer = tool("--json", *options, "-p", load.pid, "-e", "getppid", "--by", "syscall,errno",
                  tool="syscount")
    load.go()
    load.done()
    report = tracer.stop().report
    nothing_lost(report)
    row, = report["rows"]
    assert (row["syscall"], row["errno"]) == ("getppid", "EPERM")
    assert row["calls"] == row["errors"] == 9
    assert not options or row["time"] == 0


# --- times --------------------------------------------------------------------------------------

def test_one_sleep(tool, trigger):
    """A sleep of a known length: the histogram and the table agree."""
    load = trigger("callmix", "nap", 50)
    options = ("-p", load.pid, "-e", "nanosleep")
    tracer = tool("--json", "--latency", *options, tool="syscount")
    hist = tool("--json", "--hist", *options, tool="syscount")
    load.go()
    load.done()
    report, group = tracer.stop().report, by_key(hist.stop().report, "syscall")["nanosleep"]
    nothing_lost(report)
    row, = report["rows"]
    assert (row["syscall"], row["calls"], row["errors"], row["running"]) == ("nanosleep", 1, 0, 0)
    assert row["time"] == row["avg"] == row["max"] == row["p50"] == row["p99"] >= 50_000_000
    assert group["count"] == 1 and group["sum"] >= 50_000_000


def test_restart(tool, trigger):
    """A sleep that is stopped and continued is two calls: nanosleep, which fails with an error that programs do not
    see, and restart_syscall."""
    load = trigger("callmix", "nap", 2000)     # far longer than until the stop
    tracers = [tool("--json", *options, "-p", load.pid, "-e", "nanosleep,restart_syscall", "--by",
                    "syscall,errno", tool="syscount") for options in MODES]
    load.go()
    # It neither writes nor reads before it sleeps.
    wait_until(lambda: open(f"/proc/{load.pid}/syscall").read().startswith("35 "), "a nap")
    load.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: tally.state(load.pid) == "T", "a stop")
    load.process.send_signal(signal.SIGCONT)
    load.done()
    for options, tracer in zip(MODES, tracers):
        report = tracer.stop().report
        nothing_lost(report)
        rows = {(row["syscall"], row["errno"]): row for row in report["rows"]}
        assert {key: row["calls"] for key, row in rows.items()} == {
            ("nanosleep", "ERESTART_RESTARTBLOCK"): 1, ("restart_syscall", "success"): 1}
        assert not options or sum(row["time"] for row in rows.values()) <= report["duration_ns"]


def test_heat(tool):
    """A histogram for each interval: together they have every call."""
    tracer = tool("--json", "--heat", "-e", "getppid", "-I", "5", "--", *MIX, tool="syscount",
                  ready=False)
    reports = tracer.wait().reports
    nothing_lost(*reports)
    counts = [group["count"] for report in reports for group in report["groups"]]
    assert sum(counts) == ALONE + FORKED
    assert all(sum(n for *_, n in group["buckets"]) == group["count"]
               for report in reports for group in report["groups"])


def test_running(tool, trigger):
    """A running call is in each report with its time in that interval, and at its return with the rest: the sum is its
    whole time. It had begun before the run, which the report counts, but not as a loss."""
    load = trigger("syscalls", 1, "110:1")
    tracer = tool("--json", "--latency", "-p", load.pid, "-e", "read", "-I", "100", tool="syscount")
    tracer.await_lines(4)
    load.go()
    load.done()
    tracer.await_lines(2)
    reports = tracer.stop().reports
    rows = [row for report in reports for row in report["rows"]]
    ended = [i for i, row in enumerate(rows) if row["calls"]]
    assert len(ended) == 1 and ended[0] >= 3, rows
    before, last, after = rows[:ended[0]], rows[ended[0]], rows[ended[0] + 1:]
    spent = 0
    for row in before:
        assert (row["calls"], row["running"], row["avg"]) == (0, 1, None)
        spent += row["time"]
        assert row["longest"] == spent
    assert last["calls"] == 1
    # It returned in that interval, and the next read began.
    assert last["max"] == last["avg"]
    began_anew = last["longest"] if last["running"] else 0
    assert spent + last["time"] == last["max"] + began_anew
    assert all(row["calls"] == 0 and row["running"] == 1 for row in after)
    assert [report.get("begun_before", 0) for report in reports if report["events"]] == [1]
    assert not any(any(flaws(report).values()) for report in reports)


def test_running_in_reports(tool, trigger):
    """The time of a running call is that of the report, from its start to its end."""
    load = trigger("callmix", "nap", 1)
    tracer = tool("--json", "--latency", "-p", load.pid, "-d", "0.5", tool="syscount")
    report = tracer.wait().report
    nothing_lost(report)
    row, = report["rows"]
    assert (row["syscall"], row["calls"], row["running"]) == ("read", 0, 1)
    assert row["time"] == row["longest"] and report["events"] == 0
    # From before the report's clock starts to after it stops.
    assert row["time"] >= 500_000_000


def test_intervals(tool, trigger):
    """Reports of intervals add up to that of the whole."""
    each = scaled(20000)
    load = trigger("syscalls", 2, f"110:{each}", f"0:{each}")
    options = ("--json", "-p", load.pid, "-e", "getppid,read")
    tracers = [tool(*options, *mode, "-I", "50", tool="syscount") for mode in MODES]
    load.go()
    load.done()
    for tracer in tracers:
        tracer.await_lines(2)
        reports = tracer.stop().reports
        rows = [row for report in reports for row in report["rows"]]
        if any(report["lost"]["recursion"] for report in reports):
            continue
        assert sum(row["calls"] for row in rows if row["syscall"] == "getppid") == 2 * each
        assert sum(row["errors"] for row in rows if row["syscall"] == "read") == 2 * each


# --- what people see ----------------------------------------------------------------------------

@tally.once
def test_text(tool):
    """Columns, a line of sums, and the order of --sort."""
    def run(*options):
        return tool(*options, "--", *MIX, tool="syscount", ready=False).wait().text

    text = run("--top", "2")
    lines = text.splitlines()
    assert lines[3].split() == ["syscall", "calls", "errors"]
    assert lines[4].split() == ["getppid", "1,013", "0"] and lines[6].startswith("total ")
    assert "more not shown (--top)" in text
    assert run("--sort", "errors").splitlines()[4].split()[0] == "(no"
    assert run("--latency").splitlines()[3].split() == [
        "syscall", "calls", "errors", "time", "avg", "p50", "p99", "max", "running", "longest"]
    assert run("--csv", "-e", "getppid").splitlines()[-1].endswith("getppid,1013,0")


@tally.once
@pytest.mark.parametrize("options, said", (
    (("-e", "raed"), "did you mean read?"),
    (("-e", "read,%fiel"), "did you mean %file?"),
    (("-e", "read,"), "expected a name here"),
    (("--errno", "ENOTHING"), "no error 'ENOTHING'"),
    (("--errno", "0"), "no error '0'"),
    (("--sort", "speed"), "unknown column 'speed'"),
    (("--hist", "--sort", "errors"), "histograms have no column 'errors'"),
    (("--by", "syscal"), "syscall, errno"),
))
def test_wrong(tool, options, said):
    result = tool(*options, tool="syscount", ready=False).wait()
    assert result.code == 2 and said in result.stderr


@tally.once
def test_explain(tool):
    """-n names the programs: one for counts."""
    result = tool("-n", "--json", tool="syscount", ready=False).wait().report
    programs = [row["how"] for row in result["rows"] if row["what"] == "program"]
    assert programs == ["count_exit at tp_btf/sys_exit"]


RENAMED = """
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void call(int cpu, const char *name)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || prctl(PR_SET_NAME, name))
		exit(1);
	syscall(SYS_getppid);
}

static void *run(void *arg)
{
	long i = (long)arg, one = i % 2;

	call(one, "before");
	call(!one, "after");
	return arg;
}

int main(void)
{
	pthread_t thread;
	long i;

	for (i = 0; i < 100; i++)
		if (pthread_create(&thread, NULL, run, (void *)i) || pthread_join(thread, NULL))
			return 1;
	return 0;
}
"""


@pytest.mark.skipif(not {0, 1} <= os.sched_getaffinity(0), reason="needs the CPUs 0 and 1")
def test_names_that_change_within_a_tick(run, directory):
    """A thread has the name of its last call, also if it has just made calls under another name on another CPU: such as
    a program executed on another CPU."""
    (directory / "renamed.c").write_text(RENAMED)
    command = ["gcc", "-D_GNU_SOURCE", "-O2", "-pthread", "-o", "renamed", "renamed.c"]
    subprocess.run(command, cwd=directory, check=True)
    report = run("--json", "--by", "tid", "-e", "getppid", "--", directory / "renamed", tool="syscount").report
    assert [(row["comm"], row["calls"]) for row in report["rows"]] == [("after", 2)] * 100
