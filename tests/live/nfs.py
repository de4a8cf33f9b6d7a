# SPDX-License-Identifier: BSD-2-Clause
"""An NFS server of version 3 with one file, on localhost, that takes requests and answers none from hang() on.

A mount of it cannot be unmounted properly afterwards: for guests only. No program of NFS is needed.
"""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

MOUNT_PROGRAM = 100005
MNT = 1
GETATTR, LOOKUP, ACCESS, READ, FSSTAT, FSINFO, PATHCONF = 1, 3, 4, 6, 18, 19, 20
NOT_SUPPORTED = 10004
REGULAR, DIRECTORY = 1, 2
ROOT, FILE = b"root", b"file"

MNT_DETACH = 2
PR_SET_PDEATHSIG = 1


def opaque(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


class Mount:
    """Every file handle has four bytes. caches: attributes, which are otherwise asked for each time."""

    source = "127.0.0.1:/export"

    def __init__(self, caches=False):
        self.data, self.is_hung = b"x" * 8192, False
        self.libc = ctypes.CDLL(None, use_errno=True)
        for module in "nfs", "nfsv3":
            subprocess.run(["modprobe", module], check=False)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
        self.listener = socket.create_server(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        self.heard = os.pipe()
        self.server = os.fork()
        if not self.server:
            self.serve()
        self.listener.close()
        self.path = Path(tempfile.mkdtemp())
        options = (f"vers=3,proto=tcp,port={port},mountproto=tcp,mountvers=3,mountport={port},nolock,"
                   f"{'ac' if caches else 'noac'},addr=127.0.0.1")
        if self.libc.mount(self.source.encode(), bytes(self.path), b"nfs", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        device = self.path.stat().st_dev
        self.device = f"{os.major(device)}:{os.minor(device)}"
        self.file = self.path / "file"

    def hang(self):
        """Returns when none of its threads answers any more."""
        os.kill(self.server, signal.SIGUSR1)
        os.read(self.heard[0], 1)

    def close(self):
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        self.libc.umount2(bytes(self.path), MNT_DETACH)
        for fd in self.heard:
            os.close(fd)

    def attributes(self, handle):
        kind, mode, size = (DIRECTORY, 0o755, 4096) if handle == ROOT else (REGULAR, 0o644, len(self.data))
        return struct.pack(">5I2Q2I2Q6I", kind, mode, 1, 0, 0, size, size, 0, 0, 1, 1 + (handle == FILE), *[1, 0] * 3)

    def answer(self, procedure, arguments):
        handle = arguments[4:8]
        known = struct.pack(">I", 1) + self.attributes(handle)
        ok, none = struct.pack(">I", 0), struct.pack(">I", 0)
        if procedure == GETATTR:
            return ok + self.attributes(handle)
        if procedure == LOOKUP:
            return ok + opaque(FILE) + struct.pack(">I", 1) + self.attributes(FILE) + none
        if procedure == ACCESS:
            return ok + known + arguments[8:12]
        if procedure == READ:
            offset, count = struct.unpack(">QI", arguments[8:20])
            data = self.data[offset:offset + count]
            return ok + known + struct.pack(">2I", len(data), offset + len(data) >= len(self.data)) + opaque(data)
        if procedure == FSSTAT:
            return ok + known + struct.pack(">6QI", *[1 << 30] * 6, 0)
        if procedure == FSINFO:
            return ok + known + struct.pack(">7IQ2II", *[4096] * 7, 1 << 40, 0, 1, 0x1b)
        if procedure == PATHCONF:
            return ok + known + struct.pack(">6I", 1, 255, 1, 1, 0, 1)
        return struct.pack(">I", NOT_SUPPORTED) + none

    def reply(self, call):
        program, _, procedure = struct.unpack(">3I", call[12:24])
        at = 24
        for _ in range(2):      # credentials, verifier
            length, = struct.unpack(">I", call[at + 4:at + 8])
            at += 8 + length + -length % 4
        body = b""
        if program == MOUNT_PROGRAM and procedure == MNT:
            body = struct.pack(">I", 0) + opaque(ROOT) + struct.pack(">2I", 1, 1)
        elif program != MOUNT_PROGRAM and procedure:
            body = self.answer(procedure, call[at:])
        return call[:4] + struct.pack(">5I", 1, 0, 0, 0, 0) + body

    def talk(self, peer):
        stream = peer.makefile("rb")
        while len(head := stream.read(4)) == 4:
            call = stream.read(struct.unpack(">I", head)[0] & 0x7fffffff)
            if self.is_hung:
                continue
            reply = self.reply(call)
            peer.sendall(struct.pack(">I", 0x80000000 | len(reply)) + reply)

    def be_hung(self, *_):
        self.is_hung = True
        os.write(self.heard[1], b"x")

    def serve(self):
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGUSR1, self.be_hung)
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.listener.accept()
                threading.Thread(target=self.talk, args=(peer,), daemon=True).start()
        os._exit(0)
