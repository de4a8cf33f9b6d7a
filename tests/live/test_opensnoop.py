# SPDX-License-Identifier: BSD-2-Clause
"""opensnoop: each open's arguments and result, against a program that makes known ones, and against strace."""

import errno
import functools
import os
import re
import signal
import subprocess

import pytest

import tally
from probing import alike, told
from snooping import (
    PREEMPTIBLE,
    await_call,
    compiled,
    events_of,
    exact,
    has_kernel_frames,
    lines_with_stacks,
    own_functions,
)
from tally import flaws, scaled

pytestmark = pytest.mark.exact

OPENAT = 257


@pytest.fixture
def opensnoop(tool):
    return functools.partial(tool, "--json", tool="opensnoop")


def opens_of(result):
    """The values of each open, in order, and the report."""
    lines, report = events_of(result)
    return [line["values"] for line in lines], report


def watch(opensnoop, trigger, *ops, threads=1, args=()):
    """The results that the trigger got for these opens, opensnoop's lines about them, and the report."""
    load = trigger("opens", threads, *ops)
    tracer = opensnoop("-p", load.pid, *args)
    load.go()
    results = load.done()
    return (results, *opens_of(tracer.stop()))


def outcome(value):
    """The result of an open as the trigger prints it: 0 or -errno."""
    assert (value["fd"] is None) != (value["error"] is None), value
    return -getattr(errno, value["error"]) if value["error"] else 0


@pytest.mark.everywhere
@pytest.mark.skipif(not tally.allows_io_uring(), reason="this machine forbids io_uring")
@pytest.mark.parametrize("args", ((), ("--elapsed",), ("--failed",), ("--errno", "EFAULT"), ("--min", "1h")), ids=str)
def test_io_uring(opensnoop, trigger, directory, args):
    """Opens by io_uring, as the program made them and with its results. Before 5.17, the kernel does not show those that
    it cannot prepare."""
    load = trigger("uring", "opens", 10, directory)
    tracer = opensnoop("-p", load.pid, *args)
    load.go()
    results = [int(word) for word in load.done()]
    values, report = opens_of(tracer.stop())
    assert results[0] >= 0 and results[2] >= 0 and results[1] < 0 and results[3] == -errno.EFAULT, results
    assert report["note"] == "not seen: opens by handle, and the kernel's own", report
    plain = {"dirfd": None, "via": "io_uring"}
    expected = [
        {**plain, "path": str(directory), "flags": "O_RDONLY|O_CLOEXEC", "mode": None},
        {**plain, "path": f"{directory}/no/such", "flags": "O_WRONLY|O_CREAT", "mode": "0640"},
        {**plain, "path": "/", "flags": "O_RDONLY|O_DIRECTORY", "mode": None},
        {**plain, "dirfd": None, "path": None, "flags": "O_RDONLY", "mode": None},
    ]
    seen = range(4 if tally.KERNEL >= (5, 18) else 3)
    wanted = {"--failed": (1, 3), "--errno": (3,), "--min": ()}.get(args[0] if args else "", seen)
    wanted = [which for which in wanted if which in seen]
    assert len(values) == 10 * len(wanted), values
    for value, which in zip(values, wanted * 10):
        assert outcome(value) == min(results[which], 0), (value, results)
        assert {name: value[name] for name in expected[which]} == expected[which], value
    assert report.get("filtered", 0) >= 10 * (len(seen) - len(wanted)), report


@pytest.mark.skipif(not tally.allows_io_uring(), reason="this machine forbids io_uring")
def test_stacks_of_io_uring(run):
    """The stack is that of the submission, also if the kernel then refuses the request."""
    text = run("-g", "--", tally.BUILD / "triggers/uring", "opens", 2, "/etc", tool="opensnoop").text
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if "via=io_uring" in line]
    assert len(places) == (8 if tally.KERNEL >= (5, 18) else 6), text
    assert all("submit" in lines[i + 2] and "open_all" in lines[i + 3] for i in places), text


CALLS = (
    ("open:1:0:0:/etc/passwd", "O_RDONLY", None, "/etc/passwd"),
    ("openat:1:02000000:0:/etc/hostname", "O_RDONLY|O_CLOEXEC", None, "/etc/hostname"),
    ("openat2:1:0200000:0:/", "O_RDONLY|O_DIRECTORY", None, "/"),
    ("openat:1:0101:0640:/nonexistent/a", "O_WRONLY|O_CREAT", "0640", "/nonexistent/a"),
    ("creat:1:0:0600:/nonexistent/b", "O_WRONLY|O_CREAT|O_TRUNC", "0600", "/nonexistent/b"),
    ("open:1:020200001:0600:/proc", "O_WRONLY|O_TMPFILE", "0600", "/proc"),
    ("openat:1:0:0:", "O_RDONLY", None, ""),
    ("openat:1:0:0:@null", "O_RDONLY", None, None),
    ("openat:1:0:0:@unmapped", "O_RDONLY", None, None),
    ("openat:1:0:0:@unread", "O_RDONLY", None, "/nonexistent/unread"),
    ("openat2:1:?:0:/etc/passwd", None, None, "/etc/passwd"),
    ("open:1:0:0:@long:4095", "O_RDONLY", None, "x" * 4095),
    ("open:1:0:0:@long:4096", "O_RDONLY", None, "x" * 4095 + "..."),
    ("open:1:0:0:@long:60000", "O_RDONLY", None, "x" * 4095 + "..."),
    ("openat:1:0x40000000:0:relative", "O_RDONLY|0x40000000", None, "relative"),
)


def compare(ops, results, values):
    assert len(values) == len(ops)
    for (op, flags, mode, path), result, value in zip(ops, results, values):
        assert outcome(value) == result, op
        assert (value["flags"], value["mode"]) == (flags, mode), op
        same = value["path"] == path    # pytest would look for the difference of long ones
        assert same, (op, value["path"])
        assert value["dirfd"] is None, op


@exact
def test_calls(opensnoop, trigger):
    """Arguments and results; paths of all lengths, and unreadable ones."""
    results, values, report = watch(opensnoop, trigger, *(call[0] for call in CALLS))
    compare(CALLS, results, values)


@exact
def test_calls_32(opensnoop, trigger, directory):
    """Calls of 32-bit programs, which use other numbers and registers."""
    calls = [("i" + op, *rest) for op, *rest in CALLS]
    results, values, _ = watch(opensnoop, trigger, *(call[0] for call in calls))
    if -38 in results:
        pytest.skip("no 32-bit calls in this kernel")
    compare(calls, results, values)


def test_small_ring(opensnoop, trigger):
    """Records that do not fit into a small ring are counted: every open is a line or a loss."""
    n = scaled(20_000)
    load = trigger("opens", 1, f"openat:{n}:0:0:/dev/null")
    tracer = opensnoop("-p", load.pid, "--ring-size", "4K")
    os.kill(tracer.pid, signal.SIGSTOP)     # so that the tool takes nothing out
    load.go()
    load.done()
    os.kill(tracer.pid, signal.SIGCONT)
    lines, (report,) = told(tracer.stop())
    lost = report["lost"]["ring_full"]
    skipped = sum(flaws(report).values()) - lost
    assert len(lines) == report["events"] and lost > 0
    assert PREEMPTIBLE or not skipped
    assert lost <= n - len(lines) <= lost + skipped


# Room for all records of test_each_is_there: a loss is the tool's fault then, and not that of a machine whose other
# work keeps it from reading.
ROOM = "--ring-size", "32M"


@pytest.mark.parametrize("how", ((), ROOM, (*ROOM, "--elapsed")), ids=("plain", "room", "elapsed"))
def test_each_is_there(opensnoop, trigger, how):
    """Opens as fast as several threads can make them: each has a line or, where the buffer is full, is counted as lost
    (plain: 8 MB for 20 MB of records)."""
    n = scaled(50_000)
    load = trigger("opens", 2, f"openat:{n}:0:0:/dev/null", f"open:{n}:0:0:/nonexistent")
    tracer = opensnoop("-p", load.pid, *how)
    load.go()
    load.done()
    lines, (report,) = told(tracer.stop())
    lost = {reason: n for reason, n in flaws(report).items() if n}
    assert len(lines) == report["events"]
    full = 0 if how else lost.pop("ring_full", 0)
    assert set(lost) <= ({"recursion", "unmatched"} if PREEMPTIBLE else set())
    assert 0 <= 4 * n - len(lines) - full <= sum(lost.values())
    for path, error in (("/dev/null", None), ("/nonexistent", "ENOENT")):
        found = sum((line["values"]["path"], line["values"]["error"]) == (path, error)
                    for line in lines)
        assert found == 2 * n or full or lost


def test_one_that_began_before(opensnoop, tmp_path):
    """An open that waits for the other end of a FIFO when the tool starts: it has a line when it ends, without a
    latency. The next open has its latency."""
    pipes = [tmp_path / name for name in ("first", "second")]
    for pipe in pipes:
        os.mkfifo(pipe)

    def release(pipe):
        """Opening a FIFO waits for its reader, too."""
        os.close(os.open(pipe, os.O_WRONLY))

    def trial():
        with subprocess.Popen(["cat", *pipes]) as reader:
            await_call(reader.pid, OPENAT)
            tracers = [opensnoop("-p", reader.pid, *args) for args in (("--elapsed",), ("--min", "1h"), ())]
            for pipe in pipes:
                release(pipe)
            reader.wait()
        (first, second), report = told_of(tracers[0])
        assert first["elapsed_ns"] is None and first["values"]["fd"] is not None
        assert second["elapsed_ns"] > 0 and report["begun_before"] == 1
        lines, report = told_of(tracers[1])
        assert not lines and report["begun_before"] == 1 and report["filtered"] >= 2
        lines, report = told_of(tracers[2])
        assert len(lines) == 2 and "begun_before" not in report

    def told_of(tracer):
        lines, report = events_of(tracer.stop())
        return [line for line in lines if line["values"]["path"] in map(str, pipes)], report

    tally.steady(trial)


@exact
def test_filters(opensnoop, trigger):
    """Opens that the filters reject are counted."""
    ops = ("open:3:0:0:/etc/passwd", "open:4:0:0:/nonexistent/x", "open:5:1:0:/",
           "openat:6:0:0:/nonexistent/y")
    for args, expected in ((("--failed",), 15), (("--errno", "ENOENT"), 10), (("--errno", 21), 5),
                           (("--name", "*/x"), 4), (("--name", "/nonexistent/?", "--failed"), 10),
                           (("--min", "1h"), 0)):
        _, values, report = watch(opensnoop, trigger, *ops, args=args)
        assert len(values) == expected and report["filtered"] >= 18 - expected, args


@exact
def test_elapsed(opensnoop, trigger, directory):
    """An open that waits for the other end of a FIFO. strace -T would show the same latency."""
    if not (directory / "fifo").exists():   # not the first time
        os.mkfifo(directory / "fifo")
    load = trigger("opens", 1, f"open:1:0:0:{directory}/fifo")
    tracers = [opensnoop("-p", load.pid, *args) for args in (("--elapsed",), ("--min", "20ms"))]
    load.go()
    tally.settle(load.pid)
    subprocess.run(["sh", "-c", f"sleep .05; : > {directory}/fifo"], check=True)
    load.done()
    for tracer in tracers:
        lines, _ = events_of(tracer.stop())
        assert [line["elapsed_ns"] >= 50_000_000 for line in lines] == [True]


@exact
def test_hostile_names(opensnoop, tool, trigger):
    name = b'/nonexistent/\x1b]0;a\x07\xff\n"b\xe2\x80\xaec'
    load = trigger("opens", 1, b"open:1:0:0:" + name, comm=b"\x1b[2J\xff")
    tracers = opensnoop("-p", load.pid), tool("-p", load.pid, tool="opensnoop"), tool(
        "-p", load.pid, "--csv", tool="opensnoop")
    load.go()
    load.done()
    values, _ = opens_of(tracers[0].stop())
    escaped = '/nonexistent/\\x1b]0;a\\x07\\xff\\x0a"b\\xe2\\x80\\xaec'
    assert [v["path"] for v in values] == [escaped]
    for tracer in tracers[1:]:
        out = tracer.stop().stdout
        assert b"\x1b" not in out and b"\xff" not in out and b"\xe2\x80\xae" not in out
        assert b"\\x1b]0;a\\x07\\xff\\x0a" in out and b"\\x1b[2J\\xff" in out


@exact
def test_chroot(run, directory):
    """Paths are those that the caller passed, whatever its root and mount namespace."""
    inner = directory / "inner"
    inner.mkdir()
    (inner / "seen").write_text("")
    code = "import os,sys; os.chroot(sys.argv[1]); os.open('/seen', 0); " \
           "os.open('seen', 0, dir_fd=os.open('/', 0))"
    result = run("--json", "--name", "*seen", "--", "unshare", "-m", "/usr/bin/python3", "-c", code,
                 inner, tool="opensnoop")
    values, report = opens_of(result)
    assert [v["path"] for v in values] == ["/seen", "seen"]
    assert [v["error"] for v in values] == [None, None]
    assert values[0]["dirfd"] is None and values[1]["dirfd"] >= 0


@alike
def test_like_strace(opensnoop, run, directory):
    """All opens of a command and their results, in order."""
    log = directory / "log"
    subprocess.run(["strace", "-s", "4096", "-e", "trace=open,openat,openat2,creat", "-o", log,
                    "cmp", "-s", "/etc/passwd", "/nonexistent"], capture_output=True, check=False)
    seen = []
    for line in log.read_text().splitlines():
        if line.startswith("open"):
            words = line.rpartition(" = ")[2].split()
            seen.append((line.split('"')[1], words[1] if words[0] == "-1" else int(words[0])))
    result = run("--json", "--", "cmp", "-s", "/etc/passwd", "/nonexistent", tool="opensnoop")
    values, _ = opens_of(result.of_command(2))
    found = [(v["path"], v["error"] or v["fd"]) for v in values]
    assert len(seen) > 5
    # The tracer opens descriptors of its own before the command's exec: the numbers differ by as many.
    assert [path for path, _ in found] == [path for path, _ in seen]
    assert [each if isinstance(each, str) else 0 for _, each in found] == [
        each if isinstance(each, str) else 0 for _, each in seen]


@alike
def test_text(run):
    result = run("--", "cat", "/nonexistent", tool="opensnoop")
    assert ' error=ENOENT flags=O_RDONLY path="/nonexistent"\n' in result.text
    assert "mode=" not in result.text and "dirfd" not in result.text
    result = run("--template", "{comm} {path}={fd}", "--", "cat", "/nonexistent", tool="opensnoop")
    assert "cat /nonexistent=-\n" in result.text
    # Standard output has lines only, for sort and uniq: the report is on standard error.
    assert all(re.fullmatch(r"cat \S+=\S+", line) for line in result.text.splitlines()), result
    assert "\nopensnoop: opens of files during " in result.stderr and "\nevents " in result.stderr, result


def test_usage(run):
    for args, word in ((("--errno", "ENOSUCH"), "ENOENT"), (("--min", "soon"), "10ms")):
        result = run(*args, tool="opensnoop")
        assert result.code == 2 and word in result.stderr
    result = run("-n", tool="opensnoop")
    assert result.code == 0 and "on_exit at tp_btf/sys_exit" in result.text


# --- stacks ------------------------------------------------------------------------------------------------

ASKING = """
#include <fcntl.h>
#include <unistd.h>

#define STEP __attribute__((noinline))

STEP int look_up(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 ? 0 : close(fd);
}

STEP int left(const char *path)
{
	return look_up(path) + 1;
}

STEP int right(const char *path)
{
	return look_up(path) + 2;
}

int main(void)
{
	return left("/etc/passwd") + right("/nonexistent/file") != 3;
}
"""


@tally.once
@pytest.mark.parametrize("parts", ((), ("-K",)), ids=("user", "both"))
def test_who_opens(run, directory, parts):
    """The functions of the program that make opens which succeed and fail."""
    program = compiled(directory, "asking", ASKING)
    lines, report = lines_with_stacks(run, "opensnoop", directory, parts, program)
    frames = {line["values"]["path"]: line["frames"] for line in lines}
    for path, via in (("/etc/passwd", "left"), ("/nonexistent/file", "right")):
        assert own_functions(frames[path], program)[:3] == ["look_up", via, "main"], (path, frames[path])
        assert has_kernel_frames(frames[path]) == bool(parts)
    assert not any(flaws(report).values()), report


@tally.once
@pytest.mark.parametrize("args, why", (
    (("-U",), "stack options need -g"), (("--max-depth", "3"), "stack options need -g"),
    (("-g", "--max-depth", "0"), "from 1 to")))
def test_wrong_options_about_stacks(run, args, why):
    result = run(*args, "-d", "0.1", tool="opensnoop")
    assert result.code == 2 and why in result.stderr, result
