# SPDX-License-Identifier: BSD-2-Clause
"""Tools with --live on a terminal of their own: the screen, keys, and job control."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import tally

ENTER, LEAVE, HOME = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[H"

# Starts a job like an interactive shell: the leader of a session with a terminal, and a process group that is in the
# foreground or not. Then it moves the job to the foreground (f) or the background (b), as asked; it ends with the job.
SHELL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
begun, go = os.pipe()
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.close(go)
    os.read(begun, 1)
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.close(int(sys.argv[1])), os.close(int(sys.argv[2]))
    os.execv(sys.argv[4], sys.argv[4:])
os.close(begun)
os.setpgid(job, job)
group = {"f": job, "b": os.getpgrp()}
os.tcsetpgrp(0, group[sys.argv[3]])
os.write(int(sys.argv[2]), b"%d " % job)
os.close(go)
while asked := os.read(int(sys.argv[1]), 1).decode():
    os.tcsetpgrp(0, group[asked])
    os.write(int(sys.argv[2]), b"x")
_, status = os.waitpid(job, 0)
os.tcsetpgrp(0, os.getpgrp())
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


class Terminal:
    """A tool on a terminal of its own, and all its output there. stdin: replaces the terminal."""

    def __init__(self, tool, *args, columns=100, rows=24, stdin=None, job=None, stderr=subprocess.PIPE, tostop=False):
        self.end, self.other = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.other)
        if tostop:
            self.before[3] |= termios.TOSTOP
            termios.tcsetattr(self.other, termios.TCSANOW, self.before)
        self.seen, self.pid, self.mark = b"", None, 0
        command = [str(tally.BUILD / tool), *map(str, args)]
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        if job:
            asked, self.ask = os.pipe()
            self.answer, answers = os.pipe()
            command = [sys.executable, "-c", SHELL, str(asked), str(answers), job, *command]
        self.process = subprocess.Popen(command, stdin=self.other if stdin is None else stdin, stdout=self.other,
                                        stderr=self.other if stderr is None else stderr, start_new_session=True,
                                        pass_fds=(asked, answers) if job else (), env=environment)
        if job:
            os.close(asked), os.close(answers)
            self.pid = int(os.read(self.answer, 16))
        else:
            self.pid = self.process.pid

    def put(self, ground):
        """Moves the job into the foreground or the background."""
        self.mark = len(self.screens())
        os.write(self.ask, ground.encode())
        assert os.read(self.answer, 1) == b"x"

    def state(self):
        return re.search(r"^State:\s+(\S)", open(f"/proc/{self.pid}/status").read(), re.M)[1]

    def resize(self, rows, columns=100):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def is_as_before(self):
        return termios.tcgetattr(self.other) == self.before

    def read(self):
        while select.select([self.end], [], [], 0.05)[0]:
            self.seen += os.read(self.end, 65536)
        return self.seen

    def screens(self):
        """The complete screens, as lines without styles."""
        whole = self.read().split(HOME)[1:]
        return [re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", s.split(LEAVE)[0]).decode().split("\r\n")
                for s in whole if re.search(rb"q quits|Ctrl-C ends", s)]

    def screen(self, condition, what):
        """The first screen since the last key, or the last change of ground, that meets the condition."""
        return tally.wait_until(lambda: next((s for s in self.screens()[self.mark:] if condition(s)), None), what)

    def press(self, keys):
        self.mark = len(self.screens())
        os.write(self.end, keys)

    def wait(self, keys=b""):
        self.press(keys)
        if hasattr(self, "ask"):
            os.close(self.ask)
            del self.ask
        deadline = time.monotonic() + tally.PATIENCE
        while self.process.poll() is None:
            self.read()
            assert time.monotonic() < deadline, "it does not end"
        self.read()
        return self.process.returncode

    def after(self):
        """The text on the terminal after the tool has left the screen, without styles."""
        return tally.without_styles(self.seen.split(LEAVE)[-1].decode()).replace("\r\n", "\n")

    def close(self):
        if self.process.poll() is None and self.pid != self.process.pid:
            os.kill(self.pid, 9)
        tally.end_process(self.process)
        for fd in (self.end, self.other, *(getattr(self, name) for name in ("ask", "answer") if hasattr(self, name))):
            os.close(fd)
