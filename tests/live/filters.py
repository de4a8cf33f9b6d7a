# SPDX-License-Identifier: BSD-2-Clause
"""Socket filters of a process of ours: a program runs once for each datagram. As a program, it is that process.

It speaks bpf(2) itself: `filters.py MAPS NAME..` loads a program of each name, which use MAPS maps of theirs together,
and answers lines: `send N`, `close` (the descriptors of programs), `pin PATH` (the first), `attach CGROUP` (one more
program), `name HEX` (of the process), `lose N` (programs, which are closed at once; one more is kept).
"""

import contextlib
import ctypes
import os
import platform
import resource
import socket
import struct
import subprocess
import sys

import tally

MAP_CREATE, PROG_LOAD, OBJ_PIN, PROG_ATTACH = 0, 5, 6, 8
SOCKET_FILTER, CGROUP_SKB = 1, 8
INGRESS = 0
SO_ATTACH_BPF = 50


def bpf(command, attributes):
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(number, command, attributes, len(attributes))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}")
    return result


def load(name, maps, kind):
    """Returns 1, which keeps a byte of a datagram, and lets a packet into a cgroup."""
    code = b"".join(struct.pack("<BBhiQ", 0x18, 0x12, 0, fd, 0) for fd in maps)     # r2 = map
    code += struct.pack("<BBhiBBhi", 0xb7, 0, 0, 1, 0x95, 0, 0, 0)                  # r0 = 1; exit
    code, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQIIQII16s", kind, len(code) // 8, ctypes.addressof(code),
                                      ctypes.addressof(licence), 0, 0, 0, 0, 0, name.encode()))


def number_of(fd):
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as info:
        return next(int(line.split()[1]) for line in info if line.startswith(("prog_id:", "map_id:")))


def serve(maps, names):
    with contextlib.suppress(ValueError):       # before 5.11 maps count for the limit
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    held = [bpf(MAP_CREATE, struct.pack("<IIIII", 2, 4, 1000 * (i + 1), 10, 0)) for i in range(maps)]
    programs, pairs = [], []
    for name in names:
        there, here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        there.bind(("127.0.0.1", 0))
        here.connect(there.getsockname())
        programs.append(load(name, held, SOCKET_FILTER))
        there.setsockopt(socket.SOL_SOCKET, SO_ATTACH_BPF, programs[-1])
        pairs.append((here, there))
    print(*map(number_of, programs), "maps", *map(number_of, held), flush=True)
    for line in sys.stdin:
        word, *rest = line.split(maxsplit=1)
        answer = "done"
        if word == "send":
            for here, there in pairs:
                for _ in range(int(rest[0])):
                    here.send(b"x")
                    there.recv(1)
        elif word == "close":
            for fd in programs:
                os.close(fd)
        elif word == "pin":
            path = ctypes.create_string_buffer(rest[0].rstrip("\n").encode())
            bpf(OBJ_PIN, struct.pack("<QII", ctypes.addressof(path), programs[0], 0))
        elif word == "name":
            with open("/proc/self/comm", "wb") as file:
                file.write(bytes.fromhex(rest[0]))
        elif word == "lose":
            for _ in range(int(rest[0])):
                os.close(load("is_lost", [], SOCKET_FILTER))
            programs.append(load("is_kept", [], SOCKET_FILTER))
        elif word == "attach":
            group, fd = os.open(rest[0].rstrip("\n"), os.O_RDONLY), load("into_cgroup", [], CGROUP_SKB)
            bpf(PROG_ATTACH, struct.pack("<IIII", group, fd, INGRESS, 0))
            answer = str(number_of(fd))
        print(answer, flush=True)


class Filters:
    """Such a process. ids: of its programs; maps: of their maps."""

    def __init__(self, *names, maps=0, comm=None):
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(maps), *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        said = self.process.stdout.readline().split("maps")
        self.ids, self.maps = ([int(word) for word in part.split()] for part in said)
        if comm is not None:
            self.tell("name", comm.hex())

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        tally.end_process(self.process)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2:])
