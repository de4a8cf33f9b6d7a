# SPDX-License-Identifier: BSD-2-Clause
"""loads.py NAME COMM [JSON] - one process that makes trouble, or a healthy one

Each function below that is decorated with load() is the whole life of a process that staged.py starts. Once its
problem exists, it prints its facts in a line of JSON. It never ends by itself: it and its children end with the process
that started it.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

MIB = 1 << 20
PAGE = 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
CLONE_NEWNS, CLONE_NEWNET, CLONE_VFORK = 0x20000, 0x40000000, 0x4000
MS_REC_PRIVATE = 1 << 14 | 1 << 18
SO_ATTACH_FILTER = 26
LOOPBACK = "127.0.0.1"

libc = ctypes.CDLL(None, use_errno=True)
LOADS = {}


def load(function):
    LOADS[function.__name__] = function
    return function


def ready(**facts):
    print(json.dumps(facts), flush=True)


def orphans_die():
    """The process that calls this ends with its parent."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def forked(work, comm=None):
    """Forks a child that does work() and ends; returns its pid."""
    pid = os.fork()
    if pid == 0:
        orphans_die()
        if comm:
            name(comm)
        try:
            work()
        finally:
            os._exit(0)
    return pid


def name(comm):
    with open("/proc/self/comm", "w") as file:
        file.write(comm)


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def compute(ms):
    """Takes about this many milliseconds of CPU time."""
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        hash_often(1000)


def hash_often(times):
    """Takes some 0.2 us per iteration, without Python's own lock: other threads can run."""
    hashlib.pbkdf2_hmac("sha256", b"tally", b"salt", times)


def forever(work, *args):
    while True:
        work(*args)


def in_threads(n, work):
    """work() over and over in n threads next to the first one, which waits."""
    for _ in range(n):
        threading.Thread(target=forever, args=(work,), daemon=True).start()
    ready()
    signal.pause()


# --- CPUs ----------------------------------------------------------------------------------------

@load
def burn(threads, cpus=None):
    """Threads that compute, on the given CPUs only if there are any."""
    if cpus:
        os.sched_setaffinity(0, cpus)
    in_threads(threads, lambda: hash_often(500000))


@load
def burn_in_kernel():
    """Has the kernel write zeros, so many per system call that the number of calls is inconspicuous."""
    buffer = bytearray(16 * MIB)
    with open("/dev/zero", "rb", buffering=0) as file:
        ready()
        forever(file.readinto, buffer)


@load
def work_half(ms=5):
    """Computes for as long as it sleeps."""
    ready()
    while True:
        began = time.monotonic()
        compute(ms)
        time.sleep(time.monotonic() - began)


@load
def find_duplicates(share=0.3, items=3000):
    """One thread takes this share of a CPU for a function whose time grows with the square of its list; three other
    threads have nothing to do."""
    for _ in range(3):
        threading.Thread(target=signal.pause, daemon=True).start()
    ready()
    numbers = list(range(items))
    while True:
        began = time.thread_time()
        without_duplicates(numbers)
        time.sleep((time.thread_time() - began) * (1 - share) / share)


def without_duplicates(items):
    found = []
    for each in items:
        if each not in found:
            found.append(each)
    return found


@load
def crowd_out(threads, victim):
    """Threads that compute, and a child with requests to serve. Where the scheduler groups sessions, these are one."""
    os.setsid()
    pid = forked(serve, victim)
    for _ in range(threads):
        threading.Thread(target=forever, args=(hash_often, 500000), daemon=True).start()
    ready(victim=pid, victim_comm=victim)
    signal.pause()


def serve(each_ms=4, per_second=50):
    """Requests that arrive at a fixed rate, one after the other, each with so much to compute. A request that has
    waited for a second is given up."""
    due = time.monotonic()
    while True:
        due = max(due + 1 / per_second, time.monotonic() - 1)
        time.sleep(max(due - time.monotonic(), 0))
        compute(each_ms)


@load
def fork():
    """Starts programs that end at once, one after the other."""
    ready()
    forever(subprocess.call, ["/bin/true"])


@load
def ping_pong():
    """Two processes send a byte back and forth."""
    there, back = os.pipe(), os.pipe()

    def answer():
        while True:
            os.write(back[1], os.read(there[0], 1))

    def ask():
        os.write(there[1], b"x")
        os.read(back[0], 1)

    ready(peer=forked(answer))
    forever(ask)


# --- system calls --------------------------------------------------------------------------------

@load
def read_small(file):
    """Reads one byte per call."""
    fd = os.open(file, os.O_RDONLY)
    ready()
    while True:
        if not os.read(fd, 1):
            os.lseek(fd, 0, os.SEEK_SET)


@load
def look_in_vain(folder):
    """Tries to open a file in ten places where it does not exist."""
    places = [f"{folder}/place-{n}/settings.conf" for n in range(10)]
    ready(file=places[0])
    while True:
        for path in places:
            with contextlib.suppress(FileNotFoundError):
                os.open(path, os.O_RDONLY)


@load
def leak_descriptors(limit=256):
    """Opens files and never closes them, until there are no more descriptors."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    ready(file="/dev/null")
    while True:
        with contextlib.suppress(OSError):
            os.open("/dev/null", os.O_RDONLY)
        time.sleep(0.002)


@load
def hold_descriptors(limit=256, left=8):
    """Has opened nearly as many files as it may; no call has failed yet."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    ready(file="/dev/null")
    while os.open("/dev/null", os.O_RDONLY) < limit - left - 1:
        pass
    signal.pause()


@load
def contend(threads=8, hold_ms=1):
    """Threads that all want one lock, and hold it while they compute."""
    lock = threading.Lock()

    def work():
        with lock:
            compute(hold_ms)

    in_threads(threads, work)


# --- memory --------------------------------------------------------------------------------------

@load
def leak(per_second=24, at_most=2048):
    """Grows by this many MiB a second, up to at_most."""
    kept = []
    ready()
    while len(kept) < at_most:
        kept.append(b"x" * MIB)
        time.sleep(1 / per_second)
    signal.pause()


@load
def fault(size=16 * MIB):
    """Maps memory, touches each page, unmaps it."""
    touch = bytes(size // PAGE)

    def work():
        with mmap.mmap(-1, size) as memory:
            with contextlib.suppress(OSError):
                memory.madvise(getattr(mmap, "MADV_NOHUGEPAGE", 15))
            memory[::PAGE] = touch

    ready()
    forever(work)


@load
def be_killed_for_memory():
    """Children grow until the kernel kills them, one after the other."""
    def grow():
        kept = []
        while True:
            kept.append(b"x" * MIB)

    def work():
        os.waitpid(forked(grow), 0)

    work()
    ready()
    forever(work)


@load
def read_again(file, piece=MIB):
    """Reads a file from start to end, over and over."""
    buffer = bytearray(piece)
    with open(file, "rb", buffering=0) as f:
        ready()
        while True:
            if not f.readinto(buffer):
                f.seek(0)


# --- disks and files -----------------------------------------------------------------------------

class Loop:
    """A loop device over a file or a device, which goes once nobody has it open."""

    CTL_GET_FREE, SET_FD, SET_STATUS64, SET_DIRECT_IO = 0x4C82, 0x4C00, 0x4C04, 0x4C08
    AUTOCLEAR = 4
    INFO = struct.Struct("5Q4I64s64s32s2Q")

    def __init__(self, path):
        backing = os.open(path, os.O_RDWR)
        with open("/dev/loop-control") as control:
            while True:
                self.path = f"/dev/loop{fcntl.ioctl(control, self.CTL_GET_FREE)}"
                self.fd = os.open(self.path, os.O_RDWR)
                try:
                    fcntl.ioctl(self.fd, self.SET_FD, backing)
                    break
                except OSError as error:        # somebody else was faster
                    if error.errno != errno.EBUSY:
                        raise
                    os.close(self.fd)
        os.close(backing)
        fcntl.ioctl(self.fd, self.SET_STATUS64,
                    self.INFO.pack(*5 * (0,), 0, 0, 0, self.AUTOCLEAR, b"", b"", b"", 0, 0))

    def past_the_cache(self):
        fcntl.ioctl(self.fd, self.SET_DIRECT_IO, 1)
        return self

    def number(self):
        device = os.fstat(self.fd).st_rdev
        return f"{os.major(device)}:{os.minor(device)}"


@load
def write_slowly(file, limits, requests=10):
    """Writes 4 KiB at a time past the page cache, to a disk with this many requests a second: a loop device over
    another one that the kernel throttles. limits: [[file of the cgroup, format], ...]."""
    inner = Loop(file)
    for path, line in limits:
        with open(path, "w") as f:
            f.write(line.format(disk=inner.number(), requests=requests))
    outer = Loop(inner.path).past_the_cache()
    memory = mmap.mmap(-1, PAGE)
    fd = os.open(outer.path, os.O_RDWR | os.O_DIRECT)
    ready(disk=os.path.basename(outer.path))
    at = 0
    while True:
        os.pwrite(fd, memory, at % MIB)
        at += PAGE


@load
def write_and_sync(file, size, least=0, most=1 << 30):
    """Writes size bytes and calls fsync, over and over. A fast disk gets more bytes, up to most, until one round takes
    least seconds."""
    data = os.urandom(min(size, MIB))
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)

    def one_round():
        began = time.monotonic()
        for at in range(0, size, len(data)):
            os.pwrite(fd, data, at)
        os.fsync(fd)
        return time.monotonic() - began

    while least and one_round() < least and size < most:
        size *= 2
    ready(file=file)
    while True:
        one_round()


@load
def sync_with_lock(file, size, threads=6):
    """One thread holds a mutex while it writes size bytes and calls fsync, over and over; the others want the mutex for
    a moment."""
    mutex = ctypes.create_string_buffer(128)
    data = os.urandom(min(size, MIB))
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)

    def want():
        libc.pthread_mutex_lock(mutex)
        libc.pthread_mutex_unlock(mutex)
        time.sleep(0.001)

    for _ in range(threads):
        threading.Thread(target=forever, args=(want,), daemon=True).start()
    ready(file=file)
    while True:
        libc.pthread_mutex_lock(mutex)
        for at in range(0, size, len(data)):
            os.pwrite(fd, data, at)
        os.fsync(fd)
        libc.pthread_mutex_unlock(mutex)
        time.sleep(0.001)


@load
def fill(folder):
    """Writes to a full file system: one of 1 MiB, which no other process sees."""
    checked(libc.unshare(CLONE_NEWNS), "unshare")
    checked(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "mount")
    checked(libc.mount(b"none", folder.encode(), b"tmpfs", 0, b"size=1M"), "mount")
    fd = os.open(f"{folder}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = b"x" * 8192
    with contextlib.suppress(OSError):
        forever(os.write, fd, line)
    ready(file=f"{folder}/log")
    while True:
        with contextlib.suppress(OSError):
            os.write(fd, line)
        time.sleep(0.002)


@load
def back_up(folder):
    """Reads files from the disk, and has the page cache drop them."""
    paths = [os.path.join(folder, each) for each in sorted(os.listdir(folder))]
    ready()
    while True:
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                while file.read(MIB):
                    time.sleep(0.005)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# --- networks ------------------------------------------------------------------------------------

# BPF for the filter of a socket; a return value of 0 drops the packet.
RANDOM = 0xfffff000 + 56    # SKF_AD_OFF + SKF_AD_RANDOM
LOAD, AT_LEAST, RETURN = 0x20, 0x35, 0x06
ALL = ((RETURN, 0, 0, 0),)


def one_in(n):
    return (LOAD, 0, 0, RANDOM), (AT_LEAST, 1, 0, 0xffffffff // n), (RETURN, 0, 0, 0), (RETURN, 0, 0, 0xffffffff)


def drop(sock, program):
    """From now on the kernel drops packets at a socket according to the program."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))


def listener(backlog=64):
    sock = socket.socket()
    sock.bind((LOOPBACK, 0))
    sock.listen(backlog)
    return sock


def address(sock):
    return "{}:{}".format(*sock.getsockname())


@load
def send_with_losses():
    """Sends over a connection that loses one segment in 20."""
    server = listener()
    with socket.create_connection(server.getsockname()) as sender:
        receiver = server.accept()[0]
        drop(receiver, one_in(20))
        threading.Thread(target=forever, args=(receiver.recv, MIB), daemon=True).start()
        ready(address=address(receiver))
        forever(sender.send, bytes(64 << 10))


@load
def be_refused():
    """Connects where nobody listens, and tries again at once."""
    with listener() as server:
        where = server.getsockname()
    ready(address="{}:{}".format(*where))
    while True:
        with socket.socket() as sock:
            sock.connect_ex(where)
        time.sleep(0.001)


@load
def connect_to_silence(at_once=20):
    """Connects to a port whose packets are dropped, as by a firewall. The kernel gives up after two seconds instead
    of two minutes."""
    server = listener()
    drop(server, ALL)
    ready(address=address(server))
    forever(connect_and_give_up, server.getsockname(), at_once, 3, 2000)


def connect_and_give_up(where, n, patience, timeout_ms=None):
    with contextlib.ExitStack() as ends:
        for _ in range(n):
            sock = ends.enter_context(socket.socket())
            sock.setblocking(False)
            if timeout_ms:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, timeout_ms)
            sock.connect_ex(where)
        time.sleep(patience)


@load
def accept_slowly(each=0.2):
    """A server that rarely accepts a connection; its queue has room for two."""
    server = listener(1)
    ready(address=address(server))
    while True:
        server.accept()[0].close()
        time.sleep(each)


@load
def connect_often(to):
    host, _, port = to.partition(":")
    ready()
    forever(connect_and_give_up, (host, int(port)), 8, 0.3)


@load
def reset():
    """A server that closes connections without reading the request: the kernel answers with a reset."""
    server = listener()
    ready(address=address(server))
    while True:
        connection, _ = server.accept()
        connection.recv(1)
        connection.close()


@load
def be_reset(to, each=0.005):
    """Sends a request, and reads the answer."""
    host, _, port = to.partition(":")
    ready()
    while True:
        with contextlib.suppress(ConnectionResetError), socket.create_connection((host, int(port))) as sock:
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            sock.recv(100)
        time.sleep(each)


@load
def answer_slowly(each=0.2):
    """A web server that handles one request after the other, each in so many seconds. Its queue has room for two."""
    server = listener(1)
    ready(address=address(server))
    while True:
        with server.accept()[0] as sock, contextlib.suppress(OSError):
            sock.recv(PAGE)
            time.sleep(each)
            sock.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n")


@load
def request_at_once(to, threads=16):
    """Clients of a web server, each with its next request as soon as the last one has ended, failed or not."""
    def work():
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{to}/") as answer:
            answer.read()

    in_threads(threads, work)


@load
def look_through_keys(file):
    """Has redis match all its keys against a pattern that none has, one command after the other."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(file)
        ready()
        while True:
            sock.sendall(b"KEYS session:*:nobody\r\n")
            sock.recv(PAGE)


@load
def flood():
    """A process for each CPU sends packets to itself, 64 at a time; a long filter decides whether to take each."""
    SOL_UDP, UDP_SEGMENT = 17, 103

    def work():
        receiver, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        receiver.bind((LOOPBACK, 0))
        drop(receiver, 400 * ((LOAD, 0, 0, RANDOM),) + ALL)
        sender.setsockopt(SOL_UDP, UDP_SEGMENT, 1)
        sender.connect(receiver.getsockname())
        forever(sender.send, bytes(64))

    for _ in range(os.cpu_count()):
        forked(work)
    ready()
    signal.pause()


@load
def exceed_limit(device, rate, per_second=400, size=1000):
    """Sends more than a token bucket lets through, from one network namespace to another, which end with their
    processes."""
    receiver = network_of_two(device)
    command = f"tc qdisc add dev {device} root tbf rate {rate}bit burst 5000 limit 10000"
    subprocess.run(command.split(), check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("10.77.0.2", 9999))
        ready(device=device, pids=[receiver])
        while True:
            sock.send(bytes(size))
            time.sleep(1 / per_second)


def network_of_two(device):
    """This process has 10.77.0.1 on a device of its own, and a child has 10.77.0.2 and takes packets to port 9999:
    its pid."""
    there, here = os.pipe(), os.pipe()

    def receive():
        checked(libc.unshare(CLONE_NEWNET), "unshare")
        os.write(here[1], b"x")
        os.read(there[0], 1)
        configure("eth0", "10.77.0.2/24")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("10.77.0.2", 9999))
            os.write(here[1], b"x")
            forever(sock.recv, PAGE)

    checked(libc.unshare(CLONE_NEWNET), "unshare")
    pid = forked(receive)
    os.read(here[0], 1)
    subprocess.run(f"ip link add {device} type veth peer name eth0 netns {pid}".split(), check=True)
    configure(device, "10.77.0.1/24")
    os.write(there[1], b"x")
    os.read(here[0], 1)
    return pid


def configure(device, own):
    for command in (f"ip addr add {own} dev {device}", f"ip link set {device} addrgenmode none up"):
        subprocess.run(command.split(), check=True)


@load
def ask(to, each=0.2):
    """A client that is in no hurry."""
    ready()
    while True:
        with urllib.request.urlopen(f"http://{to}/") as answer:
            answer.read()
        time.sleep(each)


# --- processes -----------------------------------------------------------------------------------

@load
def crash(each=0.02):
    """Children that read from address 0, one after the other, reaped now and then."""
    def work():
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)     # no core files
        ctypes.string_at(0)

    ready()
    while True:
        pid = forked(work)
        time.sleep(each)
        os.waitpid(pid, 0)


@load
def get_stuck(n=4):
    """Processes in state D: each has started another one by vfork(), which does not reach its exec."""
    def work():
        # Like vfork(), but without shared memory, so the child may return from it and do as it likes.
        clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
        if libc.syscall(clone, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
            orphans_die()
            forever(time.sleep, 3600)

    pids = [forked(work) for _ in range(n)]
    for pid in pids:
        while state(pid) != "D":
            time.sleep(0.001)
    ready(pids=pids)
    signal.pause()


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


@load
def lock_each_other_out():
    """Two threads, each with a mutex that the other one wants."""
    mutex = [ctypes.create_string_buffer(128) for _ in range(2)]
    both = threading.Barrier(2)
    tids = [None, None]

    def work(i):
        tids[i] = threading.get_native_id()
        libc.pthread_mutex_lock(mutex[i])
        both.wait()
        libc.pthread_mutex_lock(mutex[not i])

    for i in range(2):
        threading.Thread(target=work, args=(i,)).start()
    while not all(tids) or not all(waits_in(tid).startswith("futex") for tid in tids):
        time.sleep(0.001)
    ready()
    signal.pause()


def waits_in(tid):
    with open(f"/proc/self/task/{tid}/wchan") as file:
        return file.read()


@load
def leave_zombies(n=100):
    """Children that have ended and are never waited for."""
    pids = [forked(lambda: None) for _ in range(n)]
    while any(state(pid) != "Z" for pid in pids):
        time.sleep(0.001)
    ready(pids=pids)
    signal.pause()


@load
def compile(folder, each=0.1):
    """Compiles a small program again and again."""
    path = os.path.join(folder, "small.c")
    with open(path, "w") as file:
        file.write("#include <stdio.h>\nint main(int n, char **v) { for (int i = 0; i < n; i++) puts(v[i]); }\n")
    ready(file=path)
    while True:
        subprocess.run(["gcc", "-O2", "-o", os.path.join(folder, "small"), path], check=True)
        time.sleep(each)


@load
def rest():
    ready()
    signal.pause()


def main(function, comm, given="{}"):
    orphans_die()
    name(comm)
    LOADS[function](**json.loads(given))


if __name__ == "__main__":
    main(*sys.argv[1:])
