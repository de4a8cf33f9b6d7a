# SPDX-License-Identifier: BSD-2-Clause
"""
N threads that go from one call chain to another, 20 ms in each, while other threads begin and end. Begins with a byte
on its standard input, and ends with the end of it.
"""
import sys
import threading
import time


def within_left():
    time.sleep(0.02)


def in_left():
    within_left()


def turn_left():
    in_left()


def within_right():
    time.sleep(0.02)


def in_right():
    within_right()


def turn_right():
    in_right()


def turn():
    while True:
        turn_left()
        turn_right()


def come_and_go():
    while True:
        thread = threading.Thread(target=time.sleep, args=(0.001,))
        thread.start()
        thread.join()


def main():
    print("ready", flush=True)
    sys.stdin.read(1)
    for target in [turn] * int(sys.argv[1]) + [come_and_go]:
        threading.Thread(target=target, daemon=True).start()
    sys.stdin.read()


main()
