# SPDX-License-Identifier: BSD-2-Clause
"""execsnoop: each exec, compared with the reports of programs on their own execs, and with /proc/PID/cmdline."""

import errno
import os
import shlex
import subprocess
from pathlib import Path

import pytest

import tally
from snooping import (
    compiled,
    events_of,
    exact,
    has_kernel_frames,
    lines_with_stacks,
    own_functions,
    values_of,
)
from tally import scaled

pytestmark = pytest.mark.exact

SHOW = Path("/bin/cat").resolve()


@pytest.fixture
def execsnoop(tool):
    return lambda *args, **kwargs: tool("--json", *args, tool="execsnoop", **kwargs)


@exact
def check_chain(execsnoop, trigger, kind, n):
    load = trigger("execs", kind, n)
    tracer = execsnoop("-p", load.pid)
    load.go()
    load.done()
    lines, _ = events_of(tracer.stop())
    assert [line["values"]["args"].split()[1:] for line in lines] == [
        [kind, str(i), "on"] for i in range(n - 1, -1, -1)]
    for line in lines:
        assert (line["pid"], line["tid"], line["comm"]) == (load.pid, load.pid, "exe")
        assert line["values"]["ppid"] == os.getpid() and line["values"]["uid"] == 0
        assert line["values"]["path"] == "/proc/self/exe" and line["values"]["error"] is None


def test_each_is_there(execsnoop, trigger):
    check_chain(execsnoop, trigger, "chain", scaled(2000))


def test_threads(execsnoop, trigger):
    """A thread that calls exec becomes the process: its line is the process's."""
    check_chain(execsnoop, trigger, "threads", scaled(200))


FAILED = (
    ("/nonexistent/a", "a 'b c'"),
    ("/proc", "'' 'it'\"'\"'s' $'\\x1b[1m\\x5c'"),
    ("/nonexistent/none", ""),
    ("/nonexistent/null", ""),
    ("/nonexistent/wild", "a..."),
    ("/nonexistent/many", " ".join(["m"] * 64) + "..."),
    ("/nonexistent/long", "x " + "l" * 4095 + "..."),
    (None, "a 'b c'"),
    ("", "a 'b c'"),
    ("nonexistent", "a 'b c'"),
    *([("/nonexistent/32", "a 'b c'")] if tally.makes_32_bit_calls() else []),
)


@exact
def test_failed(execsnoop, trigger):
    """The path and the arguments of the caller, as far as they can be read."""
    load = trigger("execs", "fail")
    tracers = execsnoop("-p", load.pid, "--failed"), execsnoop("-p", load.pid), \
        execsnoop("-p", load.pid, "--with-failed")
    load.go()
    results = load.done()
    for tracer, n in zip(tracers, (len(FAILED), 0, len(FAILED))):
        values = values_of(tracer.stop())
        assert len(values) == n
        for each, (path, args), result in zip(values, FAILED, results):
            assert getattr(errno, each["error"]) == result, each
            assert (each["path"], each["args"]) == (path, args)
            assert (each["dirfd"] is not None) == (path == "nonexistent")


def executed(args, executable=SHOW):
    """Runs a program that waits, and ends it; returns its pid and its arguments according to /proc."""
    own = Path("/proc/self/cmdline").read_bytes()
    with subprocess.Popen(args, executable=executable, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as process:

        def arguments():
            """Ours at first, then none until the new program's stack exists, which may be after Popen()."""
            text = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            return text != own and text

        found = tally.wait_until(arguments, "arguments")
        process.stdin.close()
        process.wait()
    return process.pid, found.split(b"\0")[:-1]


@exact
def test_arguments(execsnoop):
    """Typed into a shell, the line yields the same arguments, whatever their bytes."""
    odd = [b"", b"a b", b"it's", b'"', b"$HOME `x` \\", b"\x1b]0;a\x07\xff\n", "ä€".encode(), b"*",
           "\u202e".encode(), b"-", b"x=1", b"'", b"'\x01'", b"~", b"!a"]
    tracer = execsnoop("--comm", SHOW.name)
    pid, args = executed([b"-", *odd])
    values = {line["pid"]: line["values"] for line in events_of(tracer.stop())[0]}[pid]
    assert args == [b"-", *odd]
    shown = values["args"]
    assert all(c.isprintable() for c in shown)
    again = subprocess.run(["bash", "-c", f"printf '%s\\0' {shown}"], capture_output=True,
                           check=True)
    assert again.stdout.split(b"\0")[:-1] == args
    assert shlex.split(shown)[1:5] == ["", "a b", "it's", '"']


def values_of_processes(result, *pids):
    """Others on this machine may also execute a program of that name, or as that user."""
    return [line["values"] for line in events_of(result)[0] if line["pid"] in pids]


@exact
def test_long_arguments(execsnoop):
    """Up to 16 KiB of arguments, with their ends."""
    tracer = execsnoop("--comm", SHOW.name)
    pids = [executed([b"-", b"-", b"x" * n])[0] for n in (16379, 16380, 100_000)]
    # Compares only lengths: a diff of long texts takes minutes.
    assert [(len(v["args"]), v["args"][-4:]) for v in values_of_processes(tracer.stop(), *pids)] == [
        (4 + 16379, "xxxx"), (4 + 16380 + 3, "x..."), (4 + 16380 + 3, "x...")]


def run_process(*command):
    """Returns its pid."""
    with subprocess.Popen(command) as process:
        assert process.wait() == 0
    return process.pid


@exact
def test_scripts_and_descriptors(execsnoop, directory):
    """The arguments are those of the interpreter; the path is that of the executed file."""
    script = directory / "script"
    script.write_text("#!/bin/sh -e\ntrue\n")
    script.chmod(0o755)
    tracer = execsnoop("--comm", "script")
    pid = run_process(script, "a")
    (values,) = values_of_processes(tracer.stop(), pid)
    assert values["path"] == str(script) and values["args"] == f"/bin/sh -e {script} a"
    tracer = execsnoop("--comm", "[t0-9]*")
    fd = os.open("/bin/true", os.O_RDONLY)
    pid = os.fork()
    if not pid:
        os.execve(fd, ["by-fd"], {})
    os.waitpid(pid, 0)
    (values,) = values_of_processes(tracer.stop(), pid)
    assert values["path"] == f"/dev/fd/{fd}" and values["args"] == "by-fd"
    os.close(fd)


@exact
def test_users_and_roots(execsnoop, directory):
    """In a mount namespace and a root of its own, as another user."""
    tracer = execsnoop("-u", tally.NOBODY)
    (directory / "root").mkdir()
    script = "mount --bind / \"$1\" && exec chroot --userspec=65534:65534 \"$1\" /bin/true in"
    pid = run_process("unshare", "-m", "sh", "-c", script, "sh", directory / "root")
    (values,) = values_of_processes(tracer.stop(), pid)
    assert values["path"] == "/bin/true" and values["args"] == "/bin/true in"
    assert values["uid"] == tally.NOBODY


def test_text(run):
    result = run("--", "/bin/true", "a b", tool="execsnoop")
    assert ' path="/bin/true" args=/bin/true \'a b\'\n' in result.text


def test_usage(run):
    result = run("-n", "--with-failed", tool="execsnoop")
    assert result.code == 0 and "on_exec at tp_btf/sched_process_exec" in result.text
    assert "on_exit at tp_btf/sys_exit" in result.text
    assert "sys_exit" not in run("-n", tool="execsnoop").text.replace("tp_btf/sys_exit\n", "", 1)


# --- stacks ------------------------------------------------------------------------------------------------

STARTING = """
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP __attribute__((noinline))

extern char **environ;
static char *words[] = { "true", "-", NULL };

STEP int start(const char *path, char *word)
{
	words[1] = word;
	return execve(path, words, environ) + 1;
}

STEP int absent(void)
{
	return start("/nonexistent/program", "absent") + 1;
}

STEP int forked(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(start("/bin/true", "forked"));
	return waitpid(pid, NULL, 0) > 0;
}

STEP int spawned(void)
{
	pid_t pid = 0;

	words[1] = "spawned";
	posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ);
	return waitpid(pid, NULL, 0) > 0;
}

STEP int last(void)
{
	return start("/bin/true", "last") + 2;
}

int main(void)
{
	return absent() + forked() + spawned() + last();
}
"""


@tally.once
@pytest.mark.parametrize("options", (("--with-failed",), ("--with-failed", "-K"), ("--failed",)),
                         ids=("user", "both", "failed"))
def test_who_executes(run, directory, options):
    """The functions of the caller, which no longer exist in the new program, or in the child. The child of
    posix_spawn() has a stack of its own, which only has functions of the library."""
    program = compiled(directory, "starting", STARTING)
    lines, report = lines_with_stacks(run, "execsnoop", directory, options, program)
    found = {line["values"]["args"].split()[-1]: line for line in lines}
    expected = {"absent": ["start", "absent"], "forked": ["start", "forked"], "spawned": [],
                "last": ["start", "last"]}
    for word, functions in expected.items():
        if "--failed" in options and word != "absent":
            assert word not in found
            continue
        frames = found[word]["frames"]
        own = [*functions, "main", "_start"] if functions else []
        assert frames and own_functions(frames, program) == own, (word, frames)
        assert has_kernel_frames(frames) == ("-K" in options), (word, frames)
    assert not any(tally.flaws(report).values()), report


@tally.once
def test_an_option_of_bcc(run):
    """In bcc, -U shows the user, as execsnoop always does here; with -g it selects user stacks."""
    assert "uid=0" in run("-U", "--", "true", tool="execsnoop").text
