# SPDX-License-Identifier: BSD-2-Clause
"""The subjects of measurements: tally's tools, empty programs and peers, and how each is started."""
import contextlib
import os
import shutil
import signal
import subprocess

from processes import Failed, Process, wait_for_text

BUILD = os.environ.get("BUILD", "build")
WORK = f"{BUILD}/bench"
HOLD = f"{WORK}/hold"
EMPTY = f"{WORK}/empty.bpf.o"
# The kernel types that programs use have the registers of one architecture (vmlinux/).
TARGET = "-D__TARGET_ARCH_" + {"x86_64": "x86", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
QUIET = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Subject:
    """One thing to measure. running() starts it and yields it once it is attached."""
    ours = empty = False
    has_programs = True
    peer = None         # the name of the subject to compare with
    at_most = 1000      # runs in a table: fewer for a subject that takes very long
    note = ""

    def __init__(self, name, label, argv, empties=(), whole=None):
        """empties: the subjects on the same hooks; whole: a command line that ends by itself."""
        self.name, self.label, self.argv, self.whole = name, label, argv, whole
        self.empties = empties or (name,)

    def beside_peer(self, name):
        self.peer = name
        return self

    def without_programs(self):
        self.has_programs = False
        return self

    def rarely(self, runs):
        self.at_most = runs
        return self

    @contextlib.contextmanager
    def running(self):
        with self.process() as process:
            process.start_seconds = self.wait(process) - process.began
            yield process

    def process(self):
        return Process(self.argv, stdout=subprocess.PIPE, **QUIET)

    def beside(self, loads):
        """The times of the loads while it runs."""
        with self.running():
            return {load.name: load.run() for load in loads}

    def check(self):
        """Fails if it does not work here."""
        self.check_installed()
        if self.at_most > 1:
            with self.running():
                pass

    def check_installed(self):
        if not shutil.which(self.argv[0]):
            raise Failed(f"{self.argv[0]} is not installed")


class Tally(Subject):
    """Reports on --ready-fd that it is attached."""
    ours = True

    @contextlib.contextmanager
    def running(self):
        read_end, write_end = os.pipe()
        process = Process(self.argv + ["--ready-fd", str(write_end)], pass_fds=[write_end],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            with process:
                os.close(write_end)
                ready = wait_for_text(process, read_end, "ready")
                process.start_seconds = ready - process.began
                yield process
        finally:
            os.close(read_end)


class Empty(Subject):
    """Empty programs of empty.bpf.c."""
    empty = True

    def __init__(self, name, label, *programs):
        super().__init__(name, label, [HOLD, EMPTY, *programs])

    def process(self):
        return Process(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wait(self, process):
        return wait_for_text(process, process.popen.stdout.fileno(), "ready")


class Bpftrace(Subject):
    """bpftrace prints BEGIN's banner once all probes are attached."""

    def process(self):
        return Process(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)

    def wait(self, process):
        return wait_for_text(process, process.popen.stdout.fileno(), "Hit Ctrl-C")


class Perf(Subject):
    """Starts disabled; acknowledges the command to enable its events. stop: the signal that ends it."""
    has_programs = False
    stop = signal.SIGINT

    @contextlib.contextmanager
    def running(self):
        ack_read, ack_write = os.pipe()
        control_read, control_write = os.pipe()
        process = Process(self.argv + ["-D", "-1", "--control", f"fd:{control_read},{ack_write}"],
                          stop=self.stop, pass_fds=[control_read, ack_write],
                          stdout=subprocess.DEVNULL, **QUIET)
        try:
            os.write(control_write, b"enable\n")
            with process:
                process.start_seconds = wait_for_text(process, ack_read, "ack") - process.began
                yield process
        finally:
            for fd in (ack_read, ack_write, control_read, control_write):
                os.close(fd)


class Wrapper(Subject):
    """Runs the load itself, as its command."""
    has_programs = False

    def __init__(self, name, label, argv, peer=None):
        """A subject with a peer is one of ours."""
        super().__init__(name, label, argv)
        self.peer, self.ours = peer, peer is not None

    def beside(self, loads):
        return {load.name: load.run(self.argv) for load in loads}

    def check(self):
        self.check_installed()


def available(candidates):
    """Starts each subject once: (subjects that run, notes on those that do not)."""
    subjects, notes = [], []
    for make in candidates:
        subject = None
        try:
            subject = make()
            subject.check()
        except (Failed, OSError) as failure:
            if subject and (subject.ours or subject.empty):
                raise
            notes.append(f"not run: {subject.label if subject else 'bpftrace'}: {failure}")
        else:
            subjects.append(subject)
            if subject.note:
                notes.append(subject.note)
    return subjects, notes
