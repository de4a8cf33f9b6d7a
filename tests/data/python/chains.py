# SPDX-License-Identifier: BSD-2-Clause
"""
Calls getppid(2) at the end of call chains of many kinds, N times each, and writes the chains as the interpreter
itself knows them, as JSON: [[[function, file, line], ...], ...], outermost first. Begins with a byte on its standard input.
"""
import asyncio
import ctypes
import functools
import json
import os
import sys
import threading

N = int(sys.argv[1])
CHAINS = {}
LOCK = threading.Lock()


def function_of(code):
    return getattr(code, "co_qualname", code.co_name)


def note(frame):
    """The chain that ends in this frame, at the line that it is at."""
    chain = []
    while frame:
        chain.append((function_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    with LOCK:
        CHAINS[tuple(reversed(chain))] = CHAINS.get(tuple(reversed(chain)), 0) + 1


def ask(*_):
    note(sys._getframe()), os.getppid()
    return 0


def recursive(depth):
    return recursive(depth - 1) if depth else ask()


def generator(depth):
    if depth:
        yield from generator(depth - 1)
    yield ask()


class Thing:
    def method(self):
        def closure():
            return (lambda: ask())()
        return closure()

    @property
    def attribute(self):
        return ask()

    def __lt__(self, other):
        return ask()

    def __del__(self):
        ask()


@functools.lru_cache(maxsize=None)
def cached(_):
    return ask()


async def awaited():
    ask()


async def awaiting():
    await awaited()
    ask()


def handled():
    try:
        raise ValueError
    except ValueError:
        ask()
    finally:
        ask()


def sorting():
    sorted([2, 1], key=ask)
    sorted([Thing(), Thing()])


def calling_back():
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ask)
    callback(1)
    ctypes.cast(callback, ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int))(1)


def compiled(i):
    """Code that comes and goes, at the same addresses: names, lines and files of one length."""
    space = {"ask": ask}
    exec(compile("\n" * (i % 3) + f"def made_{i:03}():\n" + "    pass\n" * (i % 7) + "    ask()\n", f"file_{i:03}.py", "exec"), space)
    space[f"made_{i:03}"]()


def übung_日本_𐍈():
    ask()


def everything(i):
    ask()
    recursive(40)
    list(generator(5))
    Thing().method()
    Thing().attribute
    cached(i)
    functools.reduce(ask, [1, 2])
    list(map(ask, [1]))
    [ask() for _ in range(2)]
    sorting()
    calling_back()
    handled()
    compiled(i)
    asyncio.run(awaiting())
    übung_日本_𐍈()


def main():
    print("ready", flush=True)
    sys.stdin.read(1)
    for i in range(N):
        everything(i)
    threads = [threading.Thread(target=everything, args=(1000 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    json.dump([[list(chain), n] for chain, n in CHAINS.items()], sys.stdout)
    sys.stdout.flush()


main()
