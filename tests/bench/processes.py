# SPDX-License-Identifier: BSD-2-Clause
"""Processes that bench.py starts: each leads a process group of its own, and each is ended."""
import os
import select
import signal
import subprocess
import time


class Failed(Exception):
    """A process did not do what it was started for."""


class Process:
    """A context manager: on leaving, the process is told to stop, then killed if it stays."""

    def __init__(self, argv, stop=signal.SIGINT, **kwargs):
        self.argv = [str(a) for a in argv]
        self.stop, self.kwargs = stop, kwargs

    def __enter__(self):
        self.began = time.monotonic()
        self.popen = subprocess.Popen(self.argv, process_group=0, **self.kwargs)
        return self

    @property
    def pid(self):
        return self.popen.pid

    def __exit__(self, *exc):
        self._signal(self.stop)
        try:
            self.popen.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._signal(signal.SIGKILL)
            self.popen.wait()

    def _signal(self, number):
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, number)


def wait_for_text(process, fd, text, seconds=30):
    """Reads fd until text has come; returns the monotonic time of that."""
    seen, deadline = b"", time.monotonic() + seconds
    while text.encode() not in seen:
        ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
        more = os.read(fd, 4096) if ready else b""
        if not more:
            raise Failed(f"{process.argv[0]} did not say '{text}': " + last_line(seen))
        seen += more
    return time.monotonic()


def wait_until(process, condition, seconds=30):
    """Asks twice in a millisecond; returns the monotonic time at which condition() held."""
    deadline = time.monotonic() + seconds
    while not condition():
        if process.popen.poll() is not None or time.monotonic() > deadline:
            raise Failed(f"{process.argv[0]} did not start")
        time.sleep(0.0005)
    return time.monotonic()


def last_line(output):
    lines = output.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1].strip()


def end_on_signals():
    """SIGTERM and SIGHUP end the run the way Ctrl-C does: through every __exit__."""
    def end(number, _frame):
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)        # let the cleaning up be
        raise KeyboardInterrupt(number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def kill_children():
    """Whatever an interrupt between fork and __enter__'s return has left."""
    with open(f"/proc/self/task/{os.getpid()}/children") as f:
        for pid in f.read().split():
            os.kill(int(pid), signal.SIGKILL)
