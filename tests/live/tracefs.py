# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own tracing, tracefs, for tests that compare with it.

It is not mounted on a fresh machine. So this mounts it detached (fsmount(2), Linux 5.2), as user/types/tracefs.h does:
nothing is left behind, and no other test sees a difference.
"""

import ctypes
import functools
import os
import uuid
from pathlib import Path

FSOPEN, FSCONFIG, FSMOUNT = 430, 431, 432       # the same on all architectures
FSCONFIG_CMD_CREATE = 6


def syscall(*args):
    result = ctypes.CDLL(None, use_errno=True).syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{os.strerror(ctypes.get_errno())}: system call {args[0]}")
    return result


@functools.cache
def tracing():
    """The root of tracefs, as a path that this process and its children can use while this process lives."""
    context = syscall(FSOPEN, b"tracefs", 1)
    try:
        syscall(FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0)
        return Path(f"/proc/{os.getpid()}/fd/{syscall(FSMOUNT, context, 1, 0)}")
    finally:
        os.close(context)


class Instance:
    """A trace instance for some of the kernel's tracepoints; path is its directory."""

    def __init__(self):
        self.path = tracing() / "instances" / f"tally-{uuid.uuid4()}"
        self.path.mkdir()

    def enable(self, event, condition=None):
        """event: "kmem/kmalloc", or a whole system, "lock"."""
        if condition:
            (self.path / "events" / event / "filter").write_text(condition)
        (self.path / "events" / event / "enable").write_text("1")

    def text(self):
        """The text of the trace so far."""
        return (self.path / "trace").read_text()

    def stop(self):
        """Stops tracing. Returns the text of the trace."""
        (self.path / "tracing_on").write_text("0")
        return self.text()

    def close(self):
        (self.path / "events/enable").write_text("0")
        self.path.rmdir()
