# SPDX-License-Identifier: BSD-2-Clause
"""
Threads that rest at the end of call chains of many kinds, for good. At a byte on its standard input, writes the chains
as the interpreter itself knows them, as JSON: {thread: [[function, file, line], ...]}, outermost first.
"""
import asyncio
import ctypes
import functools
import json
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time

LOCK = threading.Lock()
PIPE = os.pipe()
NATIVE = {}


def function_of(code):
    return getattr(code, "co_qualname", code.co_name)


def chain_of(frame):
    chain = []
    while frame:
        chain.append((function_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return chain[::-1]


def in_sleep():
    time.sleep(10 ** 6)


def in_recv():
    here, _there = socket.socketpair()
    here.recv(1)


def in_lock():
    with LOCK:
        pass


def in_queue():
    queue.Queue().get()


def in_condition():
    condition = threading.Condition()
    with condition:
        condition.wait_for(lambda: False)


def in_poll():
    poll = select.poll()
    poll.register(PIPE[0], select.POLLIN)
    poll.poll()


def in_child():
    subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL).wait()


def recursive(depth, last):
    return recursive(depth - 1, last) if depth else last()


def generator(depth, last):
    if depth:
        yield from generator(depth - 1, last)
    yield last()


async def awaited(last):
    last()


async def awaiting(last):
    await awaited(last)


class Thing:
    def method(self, last):
        def closure():
            return (lambda: last())()
        return closure()

    @property
    def attribute(self):
        in_sleep()

    def __lt__(self, other):
        in_lock()
        return False


def calling_back():
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(in_sleep)
    callback()


def sorting():
    sorted([2, 1], key=lambda _: in_recv())


def handled():
    try:
        raise ValueError
    except ValueError:
        in_poll()
    finally:
        pass


def compiled():
    space = {"last": in_sleep}
    exec(compile("\n\ndef made():\n    pass\n    last()\n", "made.py", "exec"), space)
    space["made"]()


def übung_日本_𐍈():
    in_sleep()


CHAINS = (
    in_sleep, in_recv, in_lock, in_queue, in_condition, in_poll, in_child,
    lambda: recursive(40, in_recv),
    lambda: recursive(200, in_sleep),
    lambda: list(generator(5, in_lock)),
    lambda: asyncio.run(awaiting(in_sleep)),
    lambda: asyncio.run(asyncio.sleep(10 ** 6)),
    lambda: Thing().method(in_poll),
    lambda: Thing().attribute,
    lambda: sorted([Thing(), Thing()]),
    lambda: functools.reduce(lambda *_: in_sleep(), [1, 2]),
    calling_back, sorting, handled, compiled, übung_日本_𐍈,
)


def member(chain):
    NATIVE[threading.get_ident()] = threading.get_native_id()
    chain()


def tell():
    chains = {NATIVE[thread]: chain_of(frame) for thread, frame in sys._current_frames().items() if thread in NATIVE}
    json.dump(chains, sys.stdout)
    sys.stdout.flush()
    os._exit(0)


def main():
    LOCK.acquire()
    threads = [threading.Thread(target=member, args=(chain,)) for chain in CHAINS]
    for thread in threads:
        thread.start()
    while len(NATIVE) < len(threads):
        time.sleep(0.01)
    print("ready", flush=True)
    sys.stdin.read(1)
    tell()


main()
