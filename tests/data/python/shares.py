# SPDX-License-Identifier: BSD-2-Clause
"""Three functions that take CPU time, and how much of it each took, as JSON: {function: seconds}. Until it is told to end."""
import json
import select
import sys
import time

TIMES = {}


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(200))


def timed(function):
    before = time.thread_time()
    function()
    TIMES[function.__name__] = TIMES.get(function.__name__, 0) + time.thread_time() - before


def often():
    spin(0.006)


def sometimes():
    spin(0.003)


def rarely():
    spin(0.001)


print("ready", flush=True)
sys.stdin.readline()
while not select.select([sys.stdin], [], [], 0)[0]:
    for function in often, sometimes, rarely:
        timed(function)
print(json.dumps(TIMES), flush=True)
