# SPDX-License-Identifier: BSD-2-Clause
"""The base of the live tests.

Tool       a tally tool: run to its end, or started, waited for and stopped
Trigger    a program of tests/triggers/ that works between two points of rest
books()    the kernel's own account of a task's waits for a CPU

The same tests run on the machine itself and in emulated guests that are five to ten times
slower, and both may have other work to do: tests compare counts, sums and structure, and wait for
events instead of sleeping. A test that cannot avoid chance, or the comparison of two clocks,
uses steady().
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import gzip
import json
import os
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import time
from collections import namedtuple
from pathlib import Path

import pytest

import schema

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TALLY_BUILD", ROOT / "build"))
GUEST = os.environ.get("TALLY_GUEST")
KERNEL = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", os.uname().release).groups())

# make check-sanitized: our programs are several times slower, the machine and the triggers are not.
SANITIZED = BUILD.name == "asan"

# For operations that should take no time at all: only a hang exceeds it. The arm64 guest's clock counts
# instructions, and leaps to the next timer while the guest waits for the host: there tests/kernels/boot ends a hang.
LEAPS = bool(GUEST) and GUEST.endswith("-arm64")
PATIENCE = 10 ** 6 if LEAPS else 240 if GUEST or SANITIZED else 150

NOBODY = 65534
PAGE = 4096     # bytes of a page of a recording


def own(name):
    """A unique name for processes: four workers, and other checkouts, run the same programs at the same time."""
    return f"{name}{os.getpid()}"[:15]


# The name of short-lived processes, by which tools select them.
TEMPEST = own("tempest")


# For tests whose subject is the same on each kernel: guests would take long and show nothing new.
once = pytest.mark.skipif(bool(GUEST), reason="the same on each kernel: tested outside of guests")


@functools.cache
def takes_code_apart():
    """False for a build without capstone (make LIBCAPSTONE=)."""
    asked = subprocess.run([BUILD / "probe", "-n", "-x", BUILD / "triggers" / "throws", "middle+1"],
                           capture_output=True, text=True)
    return "built without capstone" not in asked.stderr


@functools.cache
def reads_dwarf():
    """False for a build without libdw (make LIBDW=)."""
    if not (BUILD / "list").exists():
        return True     # conftest.py reports what is missing
    asked = subprocess.run([BUILD / "list", "-x", BUILD / "triggers" / "calls", "--lines", "work"],
                           capture_output=True, text=True)
    return "built without libdw" not in asked.stderr


@functools.cache
def makes_32_bit_calls():
    """False for a kernel built or booted without them, or a virtual machine that lacks them."""
    opens = BUILD / "triggers" / "opens"
    if not opens.exists():
        return True     # conftest.py reports what is missing
    asked = subprocess.run(
        [opens, "1", "iopen:1:0:0:/dev/null"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    return f"done -{errno.ENOSYS}" not in asked.stdout


@functools.cache
def runs_32_bit_programs():
    """False for the same reasons, or if such programs are not built here."""
    try:
        subprocess.run(
            [BUILD / "triggers" / "leaks32"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
        )
    except OSError:
        return False
    return True


@functools.cache
def stops_at_breakpoints():
    """Real processors have breakpoints. Virtual ones may lack them, or accept them and never stop there."""
    class Attr(ctypes.Structure):
        _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64 * 4),
                    ("flags", ctypes.c_uint64), ("wakeup", ctypes.c_uint32), ("bp_type", ctypes.c_uint32),
                    ("bp_addr", ctypes.c_uint64), ("bp_len", ctypes.c_uint64)]

    libc, watched = ctypes.CDLL(None, use_errno=True), ctypes.c_uint64()
    exclude_kernel = 1 << 5
    attr = Attr(
        type=5, size=ctypes.sizeof(Attr), flags=exclude_kernel, bp_type=2, bp_addr=ctypes.addressof(watched), bp_len=8
    )
    perf_event_open = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    fd = libc.syscall(perf_event_open, ctypes.byref(attr), 0, -1, -1, 0)
    if fd < 0:
        return ctypes.get_errno() not in (errno.ENODEV, errno.ENOENT, errno.EOPNOTSUPP)
    watched.value = 1
    count = int.from_bytes(os.read(fd, 8), "little")
    os.close(fd)
    return count == 1


needs_32_bit_calls = pytest.mark.skipif(not makes_32_bit_calls(), reason="no 32-bit system calls on this machine")
needs_32_bit_programs = pytest.mark.skipif(not runs_32_bit_programs(), reason="no 32-bit programs on this machine")
needs_breakpoints = pytest.mark.skipif(not stops_at_breakpoints(), reason="no breakpoints on this machine")

# For tests of debug information: variables, types, source lines, inlined functions.
needs_dwarf = pytest.mark.skipif(
    not reads_dwarf(), reason="this tally was built without libdw: it reads no debug information"
)


def scaled(n):
    """A size for loads: n on a real machine, less in an emulated guest."""
    return max(1, n // 8) if GUEST else n


# perf mounts tracefs if nobody has: let it do so in a mount namespace that ends with it.
PERF = ("unshare", "-m", "perf")


def at_terminal(*args, columns=80, rows=50, env=None, tool="runqlat"):
    """The whole output of a tool on a terminal of that size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    running = Tool(*args, tool=tool, ready=False, stdout=slave,
                   env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **(env or {})})
    os.close(slave)
    said = b""
    try:
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:         # the other end is closed
                break
            if not more:
                break
            said += more
        assert running.wait().code == 0
    finally:
        running.close()
        os.close(master)
    return said.decode().replace("\r\n", "\n")


def without_styles(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


# --- results that a single trial cannot decide -----------------------------------------------------

class Apart(AssertionError):
    """Two clocks, or a sample and its whole, differ by more than the tolerance: see within()."""


class Blurred(Exception):
    """A trial that cannot be judged, known from another source: the kernel hid a switch (holes()), or
    the tool itself reported a loss."""


def within(condition, *figures):
    """Asserts an approximate condition: a tolerance, a share of samples, the progress of a load that
    the scheduler controls. For trials of steady()."""
    if not condition:
        raise Apart(*figures)


# The number of trials after which being apart is a failure, and after which a test with blurred trials gives up.
TRIALS_APART, TRIALS_BLURRED = 5, 50


def steady(trial):
    """Repeats a trial, each time with new loads and new tools, until it can be judged. Returns its result.

    A CPU that is held up between two readings of one moment (a virtual one sometimes; an emulated
    one on a busy host all the time) sets the readings apart by the length of the stall, in
    one trial and not in the next. A wrong tool is wrong in each. So the first trial that is
    not Apart passes, and five in a row that are fail. If one in ten is apart by chance, a
    right tool fails one run in 100,000; a tool that is wrong by more than the tolerance fails each.

    Nothing else is tried twice: any other assertion of the trial, on an exact count or sum, fails
    at once, unless the trial reports that it is Blurred, which is no judgement on the tool. If all
    trials are blurred, the test fails, too, except on a machine whose kernel hides switches: holes().
    No trial begins after PATIENCE: a runner that ends a hang would end its other tests with it.
    """
    apart, blurred, deadline = [], False, time.monotonic() + PATIENCE
    for number in range(TRIALS_BLURRED):
        if number and time.monotonic() > deadline:
            break
        try:
            return trial()
        except Blurred:
            blurred = True
        except Apart as error:
            apart.append(str(error))
            if len(apart) == TRIALS_APART:
                raise AssertionError("apart in each trial:\n" + "\n".join(apart)) from error
    if not blurred:
        pytest.fail("apart in each trial until the time was up:\n" + "\n".join(apart))
    (pytest.skip if pvm_guest() else pytest.fail)("too much is hidden here to test for equality")


def wait_until(condition, what):
    """Returns the value of condition() once it is true; a hang ends the test."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.002)
    return found


# --- the kernel's books --------------------------------------------------------------------------

Books = namedtuple("Books", "run_ns delay_ns count")

# A thread that has just ended may still be listed, but its files are gone.
GONE = FileNotFoundError, ProcessLookupError


def books(pid, tid=None):
    """/proc/PID/task/TID/schedstat of one thread (by default the main thread)."""
    text = Path(f"/proc/{pid}/task/{tid or pid}/schedstat").read_text()
    return Books(*(int(n) for n in text.split()))


def books_of_threads(pid):
    """The same for all threads of a process: {tid: Books}."""
    found = {}
    for tid in threads(pid):
        with contextlib.suppress(*GONE):
            found[tid] = books(pid, tid)
    return found


def growth(before, after):
    """{tid: Books} of the growth between two books_of_threads(), for the threads in the first."""
    return {tid: Books(*(b - a for a, b in zip(before[tid], after[tid]))) for tid in before}


def total(all_books):
    """The sum of several Books: those of a dict {tid: Books}, or of any other iterable."""
    if isinstance(all_books, dict):
        all_books = all_books.values()
    return Books(*(sum(part) for part in zip(*all_books)))


def cpu_ns(pid):
    """The CPU time of a process up to now. Unlike its books, which may be a tick old
    while it runs, this has the kernel bring them up to date (task_sched_runtime())."""
    return time.clock_gettime_ns(~pid << 3 | 2)     # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)


def threads(pid):
    return sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))


def state(pid, tid=None):
    """R, S, Z, ... of a thread; "" if it has gone."""
    try:
        stat = Path(f"/proc/{pid}/task/{tid or pid}/stat").read_text(errors="replace")
    except GONE:
        return ""
    return stat.rpartition(")")[2].split()[0]


def history(pid):
    """{tid: (context switches, state, CPU times)}, which change if a thread is stopped or runs."""
    lines = {}
    for tid in threads(pid):
        status = Path(f"/proc/{pid}/task/{tid}/status").read_text()
        stat = Path(f"/proc/{pid}/task/{tid}/stat").read_text().rsplit(")", 1)[1].split()
        lines[tid] = re.findall(r"ctxt_switches:\s+(\d+)", status), stat[0], stat[11:13]
    return lines


def rest(pid):
    """Waits until two looks in a row find all threads asleep."""
    def rests():
        states = [state for _, state, _ in history(pid).values()]
        time.sleep(0.3)
        return states == [state for _, state, _ in history(pid).values()] == ["S"] * len(states)

    wait_until(rests, f"{pid} rests")


def is_alive(pid):
    """Whether a process exists and is no zombie; it may be anybody's child."""
    return state(pid) not in ("", "Z", "X")


def children(pid):
    """Children, except the process in which a tool opens files (user/base/opener.h), which always exists."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = path.read_text(errors="replace")
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == pid and "(tally-opener)" not in stat:
            found.append(int(path.parent.name))
    return found


def asleep(pid):
    """The books of each thread of a process, once it sleeps: {tid: Books}.

    A state of S is not enough: it is set before the switch, and the task may be preempted in
    between. /proc/PID/syscall is read under wait_task_inactive(): it contains "running" for a task
    that is runnable, and otherwise returns when it is off its run queue. Nor is that enough: a task
    that waits for a disk (D: a page of its program, a lock) continues by itself.
    """
    def rests(tid):
        running = Path(f"/proc/{pid}/task/{tid}/syscall").read_text().startswith("running")
        return not running and state(pid, tid) not in ("D", "R")

    found = {}
    for tid in threads(pid):
        with contextlib.suppress(*GONE):
            wait_until(lambda: rests(tid), f"thread {tid} of {pid} does not go to sleep")
            found[tid] = books(pid, tid)
    return found


def settle(pid):
    """Waits until all threads of a process sleep, at one moment, and have left their CPUs.

    Threads are checked one after the other, and a sleeping one may be woken by one that is checked later and
    sleeps by then: the last one at a barrier wakes all. So they are checked twice. Threads that have not run in
    between slept all that time, so there was a moment when all of them slept.
    """
    seen = [None, asleep(pid)]

    def unchanged():
        seen[:] = seen[1], asleep(pid)
        return seen[0] == seen[1]

    wait_until(unchanged, f"threads of {pid} wake each other")


@functools.cache
def pvm_guest():
    try:
        return b"CONFIG_PVM_GUEST=y" in gzip.decompress(Path("/proc/config.gz").read_bytes())
    except OSError:
        return False


# More switches than a test makes.
MANY_HOLES = 10 ** 9


def holes():
    """A number that grows by at least one for each switch-in that the kernel counts, but hides
    from every tracer. 0 on a sound kernel.

    In guests of PVM (a hypervisor that shadows page tables without hardware help) the threads of
    process 1 never pass the tracepoint sched_switch: ftrace and BPF alike see no switch away from
    them, and so miss the arrival of the next task. The code that such a thread runs lacks the patch
    that the kernel made when the tracepoint was enabled. (Found by comparing, per CPU, the
    next of each sched_switch event with the prev of the following one.)

    Threads of process 1 come and go. A thread that has started or ended since the last call may have made any number
    of switches, which can no longer be read: it adds MANY_HOLES, so that the difference is not taken for exact.
    """
    if not pvm_guest():
        return 0
    now = books_of_threads(1)
    _holes.found += sum(books.count - _holes.seen[tid].count for tid, books in now.items() if tid in _holes.seen)
    _holes.found += MANY_HOLES * len(now.keys() ^ _holes.seen.keys())
    _holes.seen = now
    return _holes.found


class _holes:
    """The books of process 1 at the last call of holes()."""
    seen = {}
    found = 0


# --- processes -----------------------------------------------------------------------------------

def start_process(path, args, user=None, pass_fds=(), **kwargs):
    """Popen of a built program under its own name, as another user if one is given."""
    if user is None:
        return subprocess.Popen([str(path), *args], pass_fds=pass_fds, **kwargs)
    # By descriptor: another user may have no access to the directory of the program.
    fd = os.open(path, os.O_RDONLY)
    try:
        return subprocess.Popen([path.name, *args], executable=f"/proc/self/fd/{fd}",
                                pass_fds=(*pass_fds, fd), user=user, group=user, extra_groups=[],
                                **kwargs)
    finally:
        os.close(fd)


def end_process(process, how=signal.SIGKILL):
    """Ends a process by its pid, if it has not ended already, and waits for it."""
    if process.poll() is None:
        process.send_signal(how)
    process.wait(PATIENCE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


class Result:
    """The result of a tool: its exit code, both outputs, and its reports if they are JSON."""

    def __init__(self, code, stdout, stderr):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr.decode("utf-8", "replace")

    def of_command(self, *statuses):
        """This result with an exit code of 0; the command must have ended with one of these statuses."""
        assert self.code in statuses, self
        self.code = 0
        return self

    @property
    def text(self):
        return self.stdout.decode()

    @property
    def reports(self):
        found = [json.loads(line) for line in self.text.splitlines()]
        for report in found:
            schema.check(report)
        return found

    @property
    def report(self):
        """The only report of a run without intervals."""
        found = self.reports
        assert len(found) == 1, self
        return found[0]

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.text}\n--- stderr\n{self.stderr}"


class Pipe:
    """A pipe for a tool's output."""

    def __init__(self):
        fd, self.write_end = os.pipe()
        self.reader = os.fdopen(fd, "rb")

    def close_write_end(self):
        if self.write_end is not None:
            os.close(self.write_end)
            self.write_end = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close_write_end()
        self.reader.close()


class Tool:
    """A tool in the background. ready() returns once it measures, stop() ends it."""

    stumbling = None    # or an object that is told of each process: conftest.py

    def __init__(self, *args, tool="runqlat", user=None, ready=True, stdout=None, **kwargs):
        args = [a if isinstance(a, bytes) else str(a) for a in args]
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        self.ready_fd, fd = os.pipe() if ready else (None, None)
        if ready:
            args = ["--ready-fd", str(fd), *args]
        try:
            self.process = start_process(BUILD / tool, args, user, (fd,) if ready else (),
                                         stdin=subprocess.DEVNULL, stdout=stdout or self.out,
                                         stderr=self.err, **kwargs)
        finally:
            if ready:
                os.close(fd)

    @property
    def pid(self):
        return self.process.pid

    def ready(self):
        said = os.read(self.ready_fd, 100)
        if said != b"ready\n":
            self.process.wait(PATIENCE)
            assert said == b"ready\n", self.result()
        if self.stumbling:
            self.stumbling.follow(self.process)
        return self

    def lines(self):
        """The number of lines written so far. Uses pread, since the file's position belongs to the tool."""
        fd = self.out.fileno()
        return os.pread(fd, os.fstat(fd).st_size, 0).count(b"\n")

    def await_lines(self, more, before=None):
        """Waits for this many more lines: reports, in JSON. With two or more, they include all earlier
        events: the first may have been on its way. Lines of single events that are known
        to come are awaited from the start: await_lines(5, 0)."""
        wanted = (self.lines() if before is None else before) + more

        def are_there():
            assert self.process.poll() is None, self.result()
            return self.lines() >= wanted

        wait_until(are_there, f"{more} lines")

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.wait()

    def wait(self):
        """Waits until it ends by itself."""
        self.process.wait(PATIENCE)
        return self.result()

    def result(self):
        outputs = []
        for file in (self.out, self.err):
            file.seek(0)
            outputs.append(file.read())
        return Result(self.process.returncode, *outputs)

    def close(self):
        end_process(self.process)
        if self.ready_fd is not None:
            os.close(self.ready_fd)
            self.ready_fd = None
        self.out.close()
        self.err.close()


def kernel_has(member):
    """Whether the BTF of this kernel has a member: "struct task_struct blocker"."""
    return not subprocess.run([BUILD / "triggers/btf_has"], input=f"{member}\n", text=True, stdout=subprocess.PIPE,
                              check=True).stdout


@functools.cache
def allows_io_uring():
    """Whether this machine has io_uring and does not forbid it: a sysctl, seccomp, or a kernel without it."""
    SYS_IO_URING_SETUP = 425  # on all architectures
    ring = ctypes.CDLL(None).syscall(SYS_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    if ring >= 0:
        os.close(ring)
    return ring >= 0


class Trigger:
    """A trigger program, ready to work and at rest. numbers are those that it printed with "ready".

    command is its prefix: (setpriv, ...). With forks=True the trigger is that command's child. status is its expected
    exit status: otherwise nobody would notice that a tool has killed it after its work. blocks: threads of it stay in
    state D, so it never settles.
    """

    def __init__(self, name, *args, comm=None, user=None, command=(), forks=False, status=0, blocks=False):
        self.status = status
        env = dict(os.environb)
        if comm is not None:
            env[b"TRIGGER_COMM"] = comm if isinstance(comm, bytes) else comm.encode()
        args = [a if isinstance(a, bytes) else str(a) for a in args]
        path = BUILD / "triggers" / name
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": env}
        if command:
            self.process = subprocess.Popen([*command, str(path), *args], **pipes)
        else:
            self.process = start_process(path, args, user, **pipes)
        self.numbers = self.hear("ready")
        self.pid = children(self.process.pid)[0] if forks else self.process.pid
        self.pids = self.numbers if name == "pingpong" else [self.pid]
        if not blocks:
            self.settle()

    def hear(self, word):
        line = self.process.stdout.readline().decode().split()
        assert line and line[0] == word, f"the trigger says {line}, not {word}"
        return [int(n) for n in line[1:]]

    def settle(self):
        for pid in self.pids:
            settle(pid)

    def books(self):
        self.settle()
        return {tid: b for pid in self.pids for tid, b in books_of_threads(pid).items()}

    def tids(self):
        return [tid for pid in self.pids for tid in threads(pid)]

    def go(self):
        if Tool.stumbling:
            Tool.stumbling.load_begins()
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def done(self):
        return self.hear("done")

    def close(self):
        """A test that has ended it and waited for it has checked its status."""
        known = self.process.returncode is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(PATIENCE)
        finally:
            end_process(self.process)
        assert known or self.process.returncode == self.status, \
            f"the trigger {self.process.args} ended with status {self.process.returncode}"


def let_work(loads, between=None):
    """Lets triggers do their work: all at once, or one after the other with between() before each
    except the first. Returns the output of each."""
    if between is None:
        for load in loads:
            load.go()
        return [load.done() for load in loads]
    said = []
    for load in loads:
        if said:
            between()
        load.go()
        said.append(load.done())
    return said


# --- figures -------------------------------------------------------------------------------------

def without_checksums(recording):
    """The bytes of a recording whose pages have no checksums: changes are found by what they change, or not at all."""
    return b"".join(recording[at:at + PAGE - 8] + bytes(8) for at in range(0, len(recording), PAGE))


def flaws(report):
    """Losses, and events that are counted but incomplete, by reason."""
    assert not set(report["lost"]) & set(report["inexact"])
    return {**report["lost"], **report["inexact"]}


def count(groups):
    return sum(g["count"] for g in groups)


def wait_ns(groups):
    return sum(g["sum"] for g in groups)


def by_key(report, *names):
    """The groups of a report by their keys: {value: group}, with tuples for several names."""
    found = {}
    for group in report["groups"]:
        key = tuple(group["key"][name] for name in names)
        key = key if len(names) > 1 else key[0]
        assert key not in found, f"{key} is there twice"
        found[key] = group
    return found


def buckets(groups):
    """The sum of the buckets of several groups: {(first, last): count}."""
    summed = {}
    for group in groups:
        for first, last, n in group["buckets"]:
            summed[first, last] = summed.get((first, last), 0) + n
    return summed
