# SPDX-License-Identifier: BSD-2-Clause
"""A run ends at the first signal even if nobody reads its output, and two signals at once are one."""

import fcntl
import os
import signal
import subprocess
import time

import pytest

import tally
from tally import BUILD, PATIENCE, once

pytestmark = once

F_SETPIPE_SZ = 1031
CALLS = {"x86_64": ("1", "7"), "aarch64": ("64", "73")}[os.uname().machine]


class Unread:
    """A tool whose standard output is a pipe of one page, full before it begins to measure."""

    def __init__(self, *line):
        self.read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, F_SETPIPE_SZ, 4096)
        os.write(write_end, b"x" * 4096)
        self.process = subprocess.Popen([BUILD / line[0], *map(str, line[1:])], stdout=write_end,
                                        stderr=subprocess.PIPE, text=True)
        os.close(write_end)

    def is_stuck(self):
        """Whether it waits in write(2) or poll(2)."""
        try:
            with open(f"/proc/{self.process.pid}/syscall") as file:
                return file.read().split()[0] in CALLS
        except (FileNotFoundError, ProcessLookupError):
            return False

    def end(self, how):
        self.process.send_signal(how)
        try:
            return self.process.communicate(timeout=PATIENCE)[1]
        finally:
            self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.read_end >= 0:
            os.close(self.read_end)
            self.read_end = -1


@pytest.mark.parametrize("line", (("runqlat", "--json", "-I", 50), ("syscount", "-I", 50), ("opensnoop",),
                                  ("trace", "--json", "-e", "read"), ("probe", "sched:sched_switch", "--stream")),
                         ids=lambda line: line[0])
@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM), ids=("SIGINT", "SIGTERM"))
def test_ends(ends, line, how):
    tool = Unread(*line)
    ends.callback(tool.close)
    load = subprocess.Popen(["sh", "-c", "while :; do cat /dev/null; done"])
    ends.callback(load.wait)
    ends.callback(load.kill)
    tally.wait_until(tool.is_stuck, "that it waits for its reader")
    time.sleep(0.5)     # in poll(2) it may have waited for something else
    assert tool.process.poll() is None
    assert "its reader had stopped reading" in tool.end(how)
    assert tool.process.returncode == 1


def test_a_slow_reader_gets_all(ends):
    """The tool waits for a reader that reads now and then, however long the report is."""
    tool = Unread("list", "events", "--json")
    ends.callback(tool.close)
    got = bytearray()
    while piece := os.read(tool.read_end, 1 << 16):
        got += piece
        time.sleep(0.001)
    assert got[4096:].rstrip().endswith((b"}", b"]")) and not tool.process.wait()


@pytest.mark.parametrize("line", (("runqlat",), ("profile", "-F", 99), ("syscount", "--json")),
                         ids=lambda line: line[0])
def test_two_signals_at_once_are_one(line, tool):
    """timeout -s INT sends one to its command and one to the process group."""
    for delay in (0, 0.0005, 0.005, 0.02) * 5:
        each = tool(*line[1:], tool=line[0])
        each.process.send_signal(signal.SIGINT)
        time.sleep(delay)
        each.process.send_signal(signal.SIGINT)
        ended = each.wait()
        assert ended.code == 0 and ended.stdout, ended
