# SPDX-License-Identifier: BSD-2-Clause
"""A file system with one file, served by /dev/fuse itself, whose server takes requests and answers none from hang() on.

A process that asks such a server cannot be killed: for guests only. Neither fusermount nor a library is needed.
"""

import contextlib
import ctypes
import faulthandler
import mmap
import os
import re
import signal
import stat
import struct
import subprocess
import tempfile
from pathlib import Path

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 15, 18, 25, 26, 36, 42
# Flags of INIT: readers wait for pages, and not for the answer; flock(2) asks the server.
ASYNC_READ, FLOCK_LOCKS = 1 << 0, 1 << 10

# Functions in which threads wait for the server: for its answer, or for a page of the file.
WAITS = "request_wait_answer|fuse_simple_request|folio_wait|wait_on_page|__lock_page"
ROOT, FILE = 1, 2
ENOENT, ENOSYS = 2, 38
KEEP_CACHE = 2
REQUEST_BYTES = 1 << 20

MS_NOSUID = 2
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1


class Mount:
    """The file NAME below path has the contents of source. Attributes and names are asked for each time.

    flags: of INIT. keep_cache: the pages of the file stay in memory when it is opened again.
    """

    def __init__(self, source, name="program", flags=0, keep_cache=True):
        self.flags, self.keep_cache = flags, keep_cache
        self.name, self.data = name.encode(), Path(source).read_bytes()
        self.is_hung = False
        self.libc = ctypes.CDLL(None, use_errno=True)
        subprocess.run(["modprobe", "fuse"], check=False)     # or it is built in
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.path = Path(tempfile.mkdtemp())
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other"
        if self.libc.mount(b"hung", bytes(self.path), b"fuse", MS_NOSUID, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        # Not a thread: one that starts a program waits for its file, and holds up all others.
        self.server = os.fork()
        if not self.server:
            self.serve()
        os.close(self.fd)
        # From here on its pages are in memory, and what has mapped it runs on without the server.
        assert self.file.read_bytes() == self.data
        device = self.path.stat().st_dev
        self.device = f"{os.major(device)}:{os.minor(device)}"

    @property
    def file(self):
        return self.path / self.name.decode()

    def hang(self):
        os.kill(self.server, signal.SIGUSR1)

    def close(self):
        """Lets go of whoever waits: without a server the kernel answers."""
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        self.libc.umount2(bytes(self.path), MNT_DETACH)
        os.rmdir(self.path)

    def attributes(self, node):
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o755, len(self.data))
        return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        """An errno, or what is sent back; None: nothing is."""
        if opcode == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, self.flags, 16, 12, 1 << 17, 1, 0, 0, *[0] * 8)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != self.name:
                return ENOENT
            return struct.pack("<4Q2I", FILE, 0, 0, 0, 0, 0) + self.attributes(FILE)
        if opcode == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            return struct.pack("<Q2I", 0, KEEP_CACHE if self.keep_cache else 0, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from("<2QI", body)
            return self.data[offset:offset + size]
        if opcode in (FLUSH, RELEASE):
            return b""
        return None if opcode in (FORGET, BATCH_FORGET, INTERRUPT) else ENOSYS

    def be_hung(self, *_):
        self.is_hung = True

    def serve(self):
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)     # nobody waits for longer than the test runs
        signal.signal(signal.SIGUSR1, self.be_hung)
        while True:
            try:
                request = os.read(self.fd, REQUEST_BYTES)
            except OSError:         # unmounted or aborted
                os._exit(0)
            if self.is_hung:
                continue
            _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
            found = self.answer(opcode, node, request[40:])
            if found is None:
                continue
            error, body = (-found, b"") if isinstance(found, int) else (0, found)
            os.write(self.fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def touch(fd):
    """A page fault. The module mmap would ask for the size of the file."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    ctypes.string_at(libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0), 1)


class Waiter:
    """A process that opens the file of a mount, and calls act(descriptor) on go().

    No other process has it open: the server would be asked when a program that is started closes it.
    """

    def __init__(self, mount, act):
        ready, self.begin = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            faulthandler.disable()      # a page fault ends in SIGBUS when the mount is closed
            with contextlib.suppress(BaseException):
                fd = os.open(mount.file, os.O_RDONLY)
                os.write(ready[1], b"x")
                os.read(self.begin[0], 1)
                act(fd)
            os._exit(0)
        os.close(ready[1])
        assert os.read(ready[0], 1), "it cannot open the file"
        os.close(ready[0])

    def go(self):
        os.write(self.begin[1], b"x")
        for fd in self.begin:
            os.close(fd)

    def is_at(self, place):
        """Whether the kernel shows such a function on its stack."""
        return re.search(place, Path(f"/proc/{self.pid}/stack").read_text())

    def close(self):
        """When the mount has been closed: before, it cannot end."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
