# SPDX-License-Identifier: BSD-2-Clause
"""A machine that stands still now and then, on purpose: TALLY_STUMBLE=1 make check-live

Each tool that measures, and the test itself, is held up for 50 to 300 ms at random moments: before a load begins,
between the end of a load and that of the tool, or while the tool reports; and tools each other
time for the first part of a load, which is in its buffers then. Shared virtual machines do this by themselves, in one
test of a thousand. Triggers are left alone: a signal would add system calls and switches to those that they count.
(chrt -i 0 make check-live slows them without a signal, if anything else runs.)

TALLY_STUMBLE=N is another sequence of moments.

A failure under it is not yet a fault: tests that stop a tool themselves, or that time one, cannot pass. Tools are not
held up while they start: the kernel gives up loading a program when a signal comes, and libbpf tries five times only.
"""

import os
import random
import signal
import threading
import time

FIRST, LAST = 0.05, 0.3


class Stumbling(threading.Thread):
    def __init__(self, seed):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.processes = []
        self.over = threading.Event()
        signal.signal(signal.SIGUSR2, self.stand_still)

    def stand_still(self, *_):
        """The handler of a signal to the test's own thread: any two of its steps may be this far apart."""
        time.sleep(self.random.uniform(FIRST, LAST))

    def follow(self, process):
        with self.lock:
            self.processes = [each for each in self.processes if each.returncode is None] + [process]

    def load_begins(self):
        """Before a trigger is told to work."""
        if self.random.random() < 0.5:
            for process in self.running():
                threading.Thread(target=self.hold, args=(process, LAST), daemon=True).start()
            time.sleep(0.005)

    def running(self):
        with self.lock:
            return [each for each in self.processes if each.returncode is None]

    def hold(self, process, seconds):
        # Popen signals nothing that has been waited for: the pid is its own until then.
        process.send_signal(signal.SIGSTOP)
        self.over.wait(seconds)
        process.send_signal(signal.SIGCONT)

    def run(self):
        while not self.over.wait(self.random.expovariate(1 / 0.4)):
            processes = self.running()
            if not processes or self.random.random() < 0.4:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR2)
                continue
            self.hold(self.random.choice(processes), self.random.uniform(FIRST, LAST))

    def end(self):
        self.over.set()
        self.join()
        signal.signal(signal.SIGUSR2, signal.SIG_DFL)


def begin():
    """None unless asked for."""
    if not os.environ.get("TALLY_STUMBLE"):
        return None
    stumbling = Stumbling(int(os.environ["TALLY_STUMBLE"]))
    stumbling.start()
    return stumbling
