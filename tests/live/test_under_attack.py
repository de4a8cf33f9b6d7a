# SPDX-License-Identifier: BSD-2-Clause
"""Processes that try to stall a tracer: they map code without end, or so much of it under such long names that the
kernel takes a minute to print it, or keep a reader where no signal reaches it. A run still takes the requested time,
ends soon after, reacts to signals meanwhile, and reports what it left out."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

import hostile
import tally
from cgroups import Cgroup, hierarchies
from test_whole_stacks import reports_so_far
from tally import NOBODY, Tool, Trigger, once, steady, wait_until, within

pytestmark = once

# Limits in seconds: for a wait for a reader after a signal, for the reader's end (both base/confined.h), and for
# reading the mappings of one process (sym/mappings.h).
HEARD, DEATH, MAPPINGS = 0.1, 0.2, 2.0


@pytest.fixture
def ends():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def directory():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def timed(line, *args):
    """Seconds of a run until its end, and its result."""
    began = time.monotonic()
    tool = Tool(*args, *line[1:], tool=line[0], ready=False)
    try:
        result = tool.wait()
        return time.monotonic() - began, result
    finally:
        tool.close()


def stopped(tool, how=signal.SIGINT):
    """Seconds from a signal to the tool's end, and its result."""
    began = time.monotonic()
    result = tool.stop(how)
    return time.monotonic() - began, result


# --- mappings without end ------------------------------------------------------------------------

TOOLS = (("profile", "-a"), ("stackcount", "-U", "sched:sched_switch"), ("offcputime", "-a"))


@pytest.fixture
def storm(ends):
    """As another user: maps code and maps over it, some hundred thousand times a second, for a while."""
    def start():
        load = Trigger("remaps", "storm", 1000, user=NOBODY)
        ends.callback(tally.end_process, load.process)
        load.go()
        return load

    return start


def how_late_a_sleep_is(seconds):
    began = time.monotonic()
    subprocess.run(["sleep", str(seconds)], check=True)
    return time.monotonic() - began - seconds


@pytest.mark.parametrize("line", TOOLS, ids=lambda line: line[0])
def test_a_run_is_as_long_as_asked_for(storm, line):
    """As late as a program that only sleeps, plus 100 ms; then the end takes not much longer than without a storm."""
    usual, _ = timed(line, "-d", 1, "--json")
    storm()

    def trial():
        late = how_late_a_sleep_is(1)
        seconds, result = timed(line, "-d", 2, "--json")
        assert result.code == 0, result
        took = result.report["duration_ns"] / 1e9
        assert took >= 2
        within(took < 2 + late + HEARD, took, late)
        within(seconds < 2 + 2 * (usual - 1) + 1, seconds, usual)
        assert "processes that keep mapping memory were skipped" in result.stderr, result

    steady(trial)


@pytest.mark.parametrize("line", TOOLS, ids=lambda line: line[0])
def test_others_mappings_do_not_matter(storm, line):
    """A process unrelated to the storm has nothing skipped."""
    own = [word for word in line[1:] if word != "-a"]
    storm()

    def trial():
        late = how_late_a_sleep_is(1)
        _, result = timed((line[0], *own, "-p", str(os.getpid())), "-d", 1, "--json")
        assert result.code == 0 and "skipped" not in result.stderr, result
        took = result.report["duration_ns"] / 1e9
        within(1 <= took < 1 + late + HEARD, took, late)

    steady(trial)


def stopped_cpu(tool, how):
    """CPU seconds from a signal to its end, and the result: on a busy machine, elapsed time includes other tasks."""
    before = tally.cpu_ns(tool.pid) / 1e9
    tool.process.send_signal(how)
    _, status, usage = os.wait4(tool.pid, 0)
    tool.process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime - before, tool.result()


@pytest.mark.parametrize("line, how", zip(TOOLS, (signal.SIGINT, signal.SIGTERM, signal.SIGINT)))
def test_a_signal_is_heard_in_a_storm(storm, ends, line, how):
    """After a signal there is as little left to do for the process that makes the storm as for an unrelated one."""
    def measure(pid):
        tool = Tool("--json", "-p", pid, *[word for word in line[1:] if word != "-a"], tool=line[0])
        ends.callback(tool.close)
        tool.ready()
        time.sleep(0.5)
        took, result = stopped_cpu(tool, how)
        assert result.code == 0, result
        return took

    load = storm()

    def trial():
        usual, took = measure(os.getpid()), measure(load.pid)
        within(took < 2 * usual + HEARD, took, usual)

    steady(trial)


# --- more mappings than can be read --------------------------------------------------------------

MANY = 65000


def long_path(directory):
    """A program with a path of nearly 4,096 characters."""
    path = directory
    while len(str(path)) < 4096 - 2 * 200:
        path = path / ("d" * 200)
    path.mkdir(parents=True)
    return path


def deep_path(directory):
    """A program below 4,000 nested directories, which nobody can open by that path."""
    before = os.getcwd()
    os.chdir(directory)
    try:
        for _ in range(4000):
            os.mkdir("d")
            os.chdir("d")
        return Path(f"/proc/{os.getpid()}/fd/{os.open('.', os.O_RDONLY)}")
    finally:
        os.chdir(before)


@pytest.fixture(scope="module", params=("long, each its own", "deep"))
def mapper(request):
    """A process with 65,000 mappings of such a file."""
    kind = request.param
    top = Path(tempfile.mkdtemp(dir="/var/tmp"))
    place = (deep_path if kind == "deep" else long_path)(top)
    shutil.copy(tally.BUILD / "triggers/remaps", place / "f")
    load = Trigger("remaps", "many", MANY, place / "f", *["named"] * ("own" in kind))
    try:
        load.go()
        load.done()
        yield load
    finally:
        load.close()
        if kind == "deep":
            os.close(int(place.name))
        subprocess.run(["rm", "-rf", top], check=True)


def peak_until_its_end(process):
    """Peak memory of the process, in KB. Its rusage also includes that of this process at the time of the fork."""
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except ProcessLookupError:
            continue
        found = re.search(r"^VmHWM:\s+(\d+)", status, re.M)
        peak = max(peak, int(found.group(1)) if found else 0)
        time.sleep(0.005)
    return peak


@pytest.mark.exclusive
@pytest.mark.parametrize("line", (
    ("profile",), ("memleak",), ("stat", "-x", "libc", "-e", "getsid")), ids=lambda line: line[0])
def test_what_takes_too_long_is_left_out(mapper, line):
    """Mappings of the process under -p: read within limits of time and memory, and a message says what was left out."""
    def trial():
        usual, _ = timed(line, "-d", 0.5, "-p", os.getpid(), "--json")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            process = subprocess.Popen([tally.BUILD / line[0], "-d", "0.5", "-p", str(mapper.pid), *line[1:], "--json"],
                                       stdout=out, stderr=err)
            peak = peak_until_its_end(process)
            seconds = time.monotonic() - began
            err.seek(0)
            said = err.read().decode()
        assert process.returncode in (0, 1), said
        assert process.returncode == 0 or "took too long" in said, said
        assert peak < 150 << 10, peak
        within(seconds < 2 * usual + MAPPINGS, seconds, usual)

    steady(trial)


def reads_mappings(tool, of):
    """Whether it has that file open."""
    for fd in Path(f"/proc/{tool.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if os.readlink(fd) == f"/proc/{of}/maps":
                return True
    return False


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM), ids=("SIGINT", "SIGTERM"))
@pytest.mark.parametrize("line", (("memleak",), ("probe", "-x", "libc", "getsid", "--count")), ids=lambda line: line[0])
def test_a_signal_is_heard_while_mappings_are_read(mapper, ends, line, how):
    """It ends within 100 ms, plus the time of a whole short run."""
    def trial():
        usual, _ = timed(line, "-d", 0.001, "-p", os.getpid(), "--json")
        tool = Tool("-p", mapper.pid, "--json", *line[1:], tool=line[0], ready=False)
        ends.callback(tool.close)
        wait_until(lambda: tool.process.poll() is not None or reads_mappings(tool, mapper.pid), "reading")
        took, result = stopped(tool, how)
        assert result.code == 1 and "interrupted" in result.stderr, result
        within(took < HEARD + usual, took, usual)

    steady(trial)


# --- unwind rules for everybody ------------------------------------------------------------------

GETPPID, CALLS, DEEP, TRIES = "syscalls:sys_enter_getppid", 5, 30, 10
# Numbers of rules: more than a file may have, and more than all files of a user except root may have.
REFUSED = ((16500, "a file may have"), (6000, "the files of user"))


def is_whole(tool, load):
    """Whether all stacks of its calls are whole so far."""
    stacks = [s for report in reports_so_far(tool) for s in report["stacks"] if s["key"]["pid"] == load.pid]
    named = [[frame["name"] for frame in stack["frames"]] for stack in stacks]
    return bool(named) and all("_start" in frames and "ask" in frames for frames in named)


def refuses(trigger, ends, path, why):
    """A user runs a program with as many rules as there is room for: it is refused by name, and others are still
    unwound."""
    spinner = subprocess.Popen([path], user=NOBODY, group=NOBODY, extra_groups=[])
    ends.callback(tally.end_process, spinner)
    tool = Tool("-a", "--json", "-U", "--call-graph", "dwarf", GETPPID, "--by", "pid", "1", tool="stackcount")
    ends.callback(tool.close)
    tool.ready()
    loads = []
    for _ in range(TRIES):
        loads.append(trigger("frameless", CALLS, 0, DEEP))
        tool.await_lines(1)     # meanwhile its files are read
        loads[-1].go()
        loads[-1].done()
        tool.await_lines(2)
        if is_whole(tool, loads[-1]):
            break
    assert is_whole(tool, loads[-1]), reports_so_far(tool)
    result = tool.stop()
    assert result.code == 0, result
    assert f"{path.name} ({why}" in result.reports[-1]["note"], result


@pytest.mark.exclusive
@pytest.mark.parametrize("rules, why", REFUSED)
def test_rules_of_another_user_leave_others_whole(trigger, ends, directory, rules, why):
    path = hostile.many_rules(directory, f"ruled{rules}", rules)
    shutil.chown(path, NOBODY)
    refuses(trigger, ends, path, why)


# --- a reader that no signal reaches -------------------------------------------------------------

def freezer(pid, name, ends):
    """In the freezer not even SIGKILL has an effect until it thaws: D state."""
    group = Cgroup(next(h for h in hierarchies() if h.name == "freezer"), name)
    ends.callback(group.remove)
    state = group.path / "freezer.state"
    ends.callback(state.write_text, "THAWED")
    group.add(pid)
    state.write_text("FROZEN")
    wait_until(lambda: state.read_text().strip() == "FROZEN", "a frozen reader")
    return lambda: state.write_text("THAWED")


def stop(pid, _name, _ends):
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: tally.state(pid) == "T", "a stopped reader")
    return lambda: None


@pytest.fixture(scope="module")
def spinner(directory):
    """A process whose debug file takes too long to read."""
    path = hostile.huge_debug_file(directory, "huge_debug_file")
    with subprocess.Popen([path], user=NOBODY, group=NOBODY, extra_groups=[]) as process:
        yield process
        process.kill()


def has_run(pid):
    """Longer than reading any file but the large one takes."""
    with contextlib.suppress(OSError):
        return tally.cpu_ns(pid) > 2e8
    return False


@pytest.mark.parametrize("told", (signal.SIGINT, signal.SIGTERM), ids=("SIGINT", "SIGTERM"))
@pytest.mark.parametrize("hold", (freezer, stop))
def test_a_reader_that_does_not_die_is_left_behind(spinner, ends, hold, told):
    """The report lacks the reader's part, and the reader ends as soon as it is released."""
    if hold is freezer and "freezer" not in {h.name for h in hierarchies()}:
        pytest.skip("this machine has no cgroup hierarchy that freezes so")
    trials = []

    def trial():
        trials.append(0)
        usual, _ = timed(("profile",), "-d", 0.2, "-p", os.getpid(), "--json")
        tool = Tool("-p", spinner.pid, "-d", 0.2, "--json", tool="profile")
        ends.callback(tool.close)
        tool.ready()
        (reader,) = wait_until(lambda: [pid for pid in tally.children(tool.pid) if has_run(pid)], "a reader")
        free = hold(reader, f"held{len(trials)}", ends)
        took, result = stopped(tool, told)
        free()
        wait_until(lambda: not tally.is_alive(reader), "the end of the reader")
        assert result.code == 0, result
        assert "huge_debug_file (interrupted)" in result.report["note"], result
        within(took < HEARD + DEATH + usual, took, usual)

    steady(trial)
