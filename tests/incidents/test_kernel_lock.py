# SPDX-License-Identifier: BSD-2-Clause
"""`tally triage` names the thread that holds a lock of the kernel, before the threads that wait for it in state D."""

import json
import subprocess
import time

import pytest

import tally

pytestmark = pytest.mark.everywhere

WAITERS = 3
PATIENCE = 5        # the rule's limit


@pytest.mark.parametrize("kind, call", (("kernel-mutex", "write"), ("rwsem", "pwrite64")))
def test_owner(trigger, kind, call):
    if not tally.kernel_has("struct task_struct blocker"):
        pytest.skip("this kernel does not record locks that tasks wait for (6.16)")
    *others, holder = trigger("waits", kind, WAITERS, blocks=True).numbers
    for tid in others:
        tally.wait_until(lambda tid=tid: tally.state(tid) == "D", tid)
    began = time.monotonic()
    time.sleep(PATIENCE)
    ran = subprocess.run([tally.BUILD / "tally", "triage", "--json", "-d", "1"], capture_output=True, text=True,
                         check=True)
    waited = time.monotonic() - began
    found = [each for each in json.loads(ran.stdout)["findings"] if each["rule"] == "kernel-lock"]
    if not found and kind == "rwsem":
        pytest.skip("this kernel does not record rw_semaphores (6.17)")
    assert len(found) == 1, ran.stdout
    finding, = found
    row = finding["evidence"][0]["row"]
    assert finding["level"] == "problem" and row["tid"] == holder and row["waiters"] == WAITERS, finding
    assert f"waits (thread {holder}) holds a lock of the kernel in {call}, state " in finding["sentence"], finding
    assert f"wait for it: {WAITERS}, the longest for " in finding["sentence"], finding
    assert finding["next"] == "snap --waits", finding
    # The clock of the scheduler is another one.
    assert PATIENCE * 0.9 < row["lock_wait"] / 1e9 < waited + 1, (finding, waited)
