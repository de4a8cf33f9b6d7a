# SPDX-License-Identifier: BSD-2-Clause
"""-- COMMAND: starts once the measurement has begun, is followed with its children, ends the run."""

import json
import os
import re
import signal
import subprocess

import pytest

import tally
from accounts import work
from tally import BUILD, NOBODY, by_key, once, scaled, steady, wait_until, within

FAMILY = BUILD / "triggers/family"


def report_of(path):
    return tally.Result(0, path.read_bytes(), b"").report


def test_descendants_and_their_threads_are_followed(run, trigger, directory):
    """A child, a grandchild, a daemon that has left the family; nobody else. They wait for a CPU
    after each sleep, except sleeps too short for them to have left it."""
    rounds, out = scaled(100), directory / "report"

    def trial():
        stranger = trigger("sleepers", 1, 10 * rounds, 100, -1)
        stranger.go()
        result = run("--json", "-o", out, "--by", "pid,tid", "--", FAMILY, rounds)
        stranger.done()
        assert result.code == 0, result
        pids = [int(n) for n in result.text.split()[1:]]
        groups = by_key(report_of(out), "pid", "tid")

        assert len(pids) == 4
        assert stranger.pid not in {pid for pid, _ in groups}
        # The daemon's parent is one more process.
        assert {pid for pid, _ in groups} >= set(pids)
        assert len({pid for pid, _ in groups}) <= 5
        for pid in pids:
            own = {tid: g["count"] for (p, tid), g in groups.items() if p == pid}
            assert pid in own and len(own) >= 2
            within(sum(n >= rounds for n in own.values()) >= 2, own)

    steady(trial)


def test_with_a_scope_the_command_only_sets_the_time(tool, trigger, directory):
    """As in perf: with -p, -t or -a the command itself is not measured."""
    fifo, out = directory / "fifo", directory / "report"
    os.mkfifo(fifo)
    load = trigger("sleepers", 1, scaled(100), 100, -1)
    tracer = tool("--json", "-o", out, "--by", "pid", "-p", load.pid, "--", "cat", fifo)
    work(load)
    fifo.write_text("end")
    result = tracer.wait()
    assert result.code == 0 and result.text == "end", result
    assert set(by_key(report_of(out), "pid")) == {load.pid}


def test_other_conditions_hold_for_the_command_too(run, directory):
    out = directory / "report"
    result = run("--json", "-o", out, "--comm", "fam*", "--by", "comm", "--", FAMILY, 5)
    assert result.code == 0, result
    assert set(by_key(report_of(out), "comm")) == {"family"}


def test_the_end_of_the_command_ends_the_run(run):
    report = run("--json", "--", "true").report
    assert report["events"] > 0


def test_the_last_interval_is_reported_when_the_command_ends(run, directory):
    """The command does nothing before the first report."""
    out, forks = directory / "report", 20
    reported = f"until [ -s {out} ]; do sleep 0.02; done"
    assert run("--json", "-o", out, "-I", 20, "--by", "comm", "--", "sh", "-c",
               f"{reported}; exec {BUILD}/triggers/storm {forks} 1 -1").code == 0
    first, *others = [tally.Result(0, line, b"").report for line in out.read_bytes().splitlines()]
    assert "storm" not in by_key(first, "comm")
    assert sum(by_key(each, "comm")["storm"]["count"] for each in others
               if "storm" in by_key(each, "comm")) >= forks


@pytest.mark.parametrize("how", ("-d", "count", "SIGINT"))
def test_the_end_of_the_run_ends_the_command(tool, directory, how):
    """The command is forked before the measurement begins, so its pid is known even if the run is short."""
    args = {"-d": ("-d", 0.3), "count": ("0.3", "1"), "SIGINT": ()}[how]

    def trial():
        tracer = tool("--json", "-o", directory / "report", *args, "--", "sleep", "1000")
        command = tally.children(tracer.pid)
        result = tracer.stop() if how == "SIGINT" else tracer.wait()
        assert result.code == 0, result
        report_of(directory / "report")
        wait_until(lambda: not any(map(tally.is_alive, command)), "the end of the command")
        within(len(command) == 1, command)

    steady(trial)


def test_the_command_starts_when_measuring_has_begun(tool, directory):
    """--ready-fd reports first."""
    out = directory / "ran"
    started = tool("--json", "--", "touch", out, ready=False)
    ready_first = tally.Tool("--json", "--", "touch", out)
    try:
        assert os.read(ready_first.ready_fd, 10) == b"ready\n"
        assert ready_first.wait().code == 0
    finally:
        ready_first.close()
    assert started.wait().code == 0 and out.exists()


WRITES = "syscalls:sys_enter_write"


def writes_of(path):
    (row,) = report_of(path)["rows"]
    return row["count"]


def test_the_end_of_the_command_ends_the_delay(run, directory):
    """The command has made its calls before the measurement begins."""
    out = directory / "report"
    result = run("--json", "-o", out, "--delay", "1000s", "-e", WRITES, "--", "sh", "-c",
                 "echo 1; echo 2", tool="stat")
    assert result.code == 0 and result.text == "1\n2\n", result
    assert writes_of(out) == 0


def test_after_the_delay_all_is_counted(tool, directory):
    """The command waits until it is told that the measurement has begun."""
    fifo, out = directory / "fifo", directory / "report"
    os.mkfifo(fifo)
    tracer = tool("--json", "-o", out, "--delay", "1", "-e", WRITES, "--", "sh", "-c",
                  f"read word < {fifo}; echo 1; echo 2; echo 3", tool="stat")
    fifo.write_text("begin\n")
    result = tracer.wait()
    assert result.code == 0 and result.text == "1\n2\n3\n", result
    assert writes_of(out) == 3


@pytest.mark.parametrize("more, calls", (((), 3), (("--no-follow-forks",), 1)), ids=str)
def test_a_command_without_its_children(run, directory, more, calls):
    """The shell writes once, and so does each of two programs that it starts."""
    out = directory / "report"
    result = run("--json", "-o", out, *more, "-e", WRITES, "--", "sh", "-c",
                 "echo 1; /bin/echo 2; /bin/echo 3; exit", tool="stat")
    assert result.code == 0 and result.text == "1\n2\n3\n", result
    assert writes_of(out) == calls


def test_counters_of_a_command_without_its_children(run, directory):
    """Each of twenty programs touches more than thirty pages."""
    out, counts = directory / "report", []
    for more in ((), ("--no-follow-forks",)):
        assert run("--json", "-o", out, *more, "-e", "page-faults", "--", "sh", "-c",
                   "/bin/true;" * 20 + "exit", tool="stat").code == 0
        counts.append(writes_of(out))
    assert counts[0] >= counts[1] + 20 * 30 and counts[1] > 0, counts


def test_the_environment_of_a_command(run, directory):
    result = run("-o", directory / "report", "--env", "ADDED=a b=c", "--env", "HOME", "-e", "cs", "--", "sh", "-c",
                 'echo "$ADDED/${HOME-none}"', tool="stat")
    assert result.code == 0 and result.text == "a b=c/none\n", result


@once
@pytest.mark.parametrize("command, why", (
    ("/nonexistent/program", "No such file"), ("no-such-program-here", "No such file"),
    ("/etc/passwd", "Permission denied"), ("/", "Permission denied"),
))
def test_a_command_that_cannot_be_run(run, command, why):
    result = run("--", command)
    assert result.code == (127 if why == "No such file" else 126), result
    assert result.stdout == b""
    assert result.stderr == f"runqlat: cannot run '{command}': {why} or directory\n" \
        or result.stderr == f"runqlat: cannot run '{command}': {why}\n"


@once
@pytest.mark.parametrize("tool", (("runqlat",), ("stat",), ("stat", "-r", "2"), ("trace",), ("profile",),
                                  ("run", "runqlat", "syscount")), ids=" ".join)
@pytest.mark.parametrize("line, code", (("exit 0", 0), ("exit 1", 1), ("exit 42", 42), ("exit 255", 255)))
def test_the_status_is_the_commands(run, directory, tool, line, code):
    """As in perf, strace and time. The command has been measured all the same."""
    assert run(*tool[1:], "-o", directory / "report", "--", "sh", "-c", line, tool=tool[0]).code == code
    assert (directory / "report").stat().st_size > 0


@pytest.mark.parametrize("name", ("TERM", "KILL", "SEGV"))
def test_a_killed_command_is_told(run, name):
    result = run("--", "sh", "-c", f"kill -{name} $$", tool="stat")
    assert result.code == 128 + getattr(signal, f"SIG{name}"), result
    assert f"stat: warning: 'sh' was killed by SIG{name}\n" in result.stderr


def test_the_first_status_of_several_runs(run, directory):
    """The second of three runs fails."""
    line = f"echo >>{directory}/n; n=$(wc -l <{directory}/n); [ $n != 2 ] || exit 9"
    assert run("-r", 3, "--", "sh", "-c", line, tool="stat").code == 9
    assert (directory / "n").read_text() == "\n\n\n"


def test_a_run_that_ends_before_the_command(run, tool, ends, directory):
    """By its time, or by a signal: to the tool, or from a terminal, which also sends it to the command."""
    assert run("-d", "0.1", "--", "sleep", "1000", tool="stat").code == 0
    assert tool("--", "sleep", "1000", tool="stat").stop().code == 0
    begun = directory / "begun"
    tracer = tally.Tool("--", "sh", "-c", f"echo >{begun}; exec sleep 1000", tool="stat", start_new_session=True)
    ends.callback(tracer.close)
    wait_until(begun.exists, "the command begins")
    os.killpg(tracer.pid, signal.SIGINT)
    result = tracer.wait()
    assert result.code == 0 and "killed" not in result.stderr, result


def test_failures_of_the_tool(run, directory):
    """Their status differs from that of a command, if there is one."""
    assert run("-e", "nonsense", "-d", "0.1", tool="stat").code == 1
    assert run("-e", "nonsense", "--", "true", tool="stat").code == 125
    assert run("--no-such-option", "--", "true", tool="stat").code == 2
    lost = "--strict", "--max-keys", 1, "--by", "tid", "-o", directory / "report", "--"
    assert run(*lost, FAMILY, 20).code == 125
    assert run(*lost, "sh", "-c", f"{FAMILY} 20; exit 7").code == 7


@once
def test_a_caller_that_ignores_its_children(directory):
    """Agents and daemons do: tools read programs in children all the same, and the command inherits the setting."""
    def run_ignoring(*line):
        return subprocess.run(line, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                              capture_output=True, text=True, check=False)

    probed = run_ignoring(BUILD / "probe", "--json", "-o", directory / "report", "-x", FAMILY, "main", "--", FAMILY, "1")
    assert probed.returncode == 0 and report_of(directory / "report")["events"] == 1, probed
    counted = run_ignoring(BUILD / "stat", "-o", directory / "counts", "--", "cat", "/proc/self/status", "/nonexistent")
    assert counted.returncode == 1, counted
    ignored = re.search(r"^SigIgn:\t(.*)$", counted.stdout, re.MULTILINE)[1]
    assert int(ignored, 16) & 1 << signal.SIGCHLD - 1, counted


def ids_of(status):
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return [fields[name].split() for name in ("Uid", "Gid", "Groups")]


@once
def test_under_sudo_the_command_is_the_users(run, directory):
    """It has all four ids of the user who called sudo, and none of root's groups or capabilities."""
    env = dict(os.environ, SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY))
    result = run("-o", directory / "report", "--", "cat", "/proc/self/status", env=env)
    assert result.code == 0, result
    uids, gids, groups = ids_of(result.text)
    assert set(uids) == set(gids) == {str(NOBODY)}
    assert "0" not in groups
    assert "CapEff:\t0000000000000000" in result.text


@once
@pytest.mark.parametrize("tool", ("filetop", "fsdist"))
def test_files_are_those_of_the_command(run, directory, tool):
    """The process in which tally starts the command writes to a pipe before the exec, which does not count."""
    report = directory / "report"
    result = run("--json", "-o", report, "--by", "comm", "--all-kinds", "--", "cat", "/dev/null", tool=tool)
    assert result.code == 0, result
    found = report_of(report)
    rows = found["rows"] if tool == "filetop" else [group["key"] for group in found["groups"]]
    assert {row["comm"] for row in rows} == {"cat"} and not found.get("begun_before"), found


@once
@pytest.mark.parametrize("tool, options", (("opensnoop", ()), ("connsnoop", ()), ("fileslower", ("--min", "0"))),
                         ids=lambda it: it if isinstance(it, str) else "")
def test_under_sudo_nothing_comes_before_the_command(run, directory, tool, options):
    """tally opens files and connects to servers of names to become the user, and none of that is in the numbers."""
    env = dict(os.environ, SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY))
    report = directory / "report"
    result = run("--json", "-o", report, *options, "--", "cat", "/dev/null", tool=tool, env=env)
    assert result.code == 0, result
    lines = [line for line in map(json.loads, report.read_text().splitlines()) if "comm" in line]
    assert {line["comm"] for line in lines} <= {"cat"}, lines
    assert lines or tool == "connsnoop"


@once
@pytest.mark.parametrize("env", ({}, {"SUDO_UID": "0", "SUDO_GID": "0"}, {"SUDO_UID": "65534"},
                                 {"SUDO_UID": "-1", "SUDO_GID": "-1"},
                                 {"SUDO_UID": "x", "SUDO_GID": "0"}), ids=str)
def test_without_sudo_the_command_is_ours(run, directory, env):
    result = run("-o", directory / "report", "--", "cat", "/proc/self/status",
                 env={**os.environ, **env})
    assert result.code == 0, result
    uids, gids, _ = ids_of(result.text)
    assert set(uids) == set(gids) == {"0"}


@once
def test_the_command_has_a_clean_start(run, directory):
    """No signals blocked or ignored, no descriptors except the three (and those of the shell)."""
    result = run("-o", directory / "report", "--", "sh", "-c",
                 "cat /proc/self/status; echo; ls /proc/self/fd")
    assert result.code == 0, result
    assert "SigBlk:\t0000000000000000" in result.text
    assert not int(result.text.split("SigIgn:\t")[1].split()[0], 16) & 1 << signal.SIGPIPE - 1
    assert result.text.split("\n\n")[1].split() == ["0", "1", "2", "3"]


@once
def test_options_of_the_command_are_its_own(run, directory):
    result = run("-o", directory / "report", "--", "echo", "-p", "--json", "--", "--help")
    assert result.code == 0, result
    assert result.text == "-p --json -- --help\n"
