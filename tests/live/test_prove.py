# SPDX-License-Identifier: BSD-2-Clause
"""doctor --prove: each tool is right on this kernel, proofs are impossible only where a feature is missing, and nothing
is left behind, however it ends. tests/unit/test_prove.c checks that wrong figures are found."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from objects import objects_of
from tally import BUILD, NOBODY, once, wait_until
from test_bench import all_gone, family

VERDICTS = ("right", "wrong", "hidden", "cannot")
# A generous deadline for each: tests run on slow machines.
PATIENT = ("--deadline", "600")
FEATURES = {"no kprobe. ": ("kprobe", "fentry")}


@pytest.fixture
def doctor(run):
    def result(*args, **kwargs):
        return run("doctor", *args, tool="tally", **kwargs)

    return result


def check_row(row):
    """A right figure is within its bounds; any other verdict has a reason."""
    if row["verdict"] == "right":
        assert row["least"] <= row["said"] <= row["most"] and row["why"] is None, row
    else:
        assert row["verdict"] == "cannot" or row["said"] < row["least"], row
        assert row["why"], row


@once
def test_tells_the_truth(doctor):
    result = doctor("--prove", "--json", *PATIENT)
    report, = (json.loads(line) for line in result.text.splitlines())
    rows = report["rows"]
    assert not [row for row in rows if row["verdict"] == "wrong"], result
    assert result.code == 0 and not result.stderr, result
    for row in rows:
        check_row(row)
    assert len({row["tool"] for row in rows}) > 15
    assert len({(row["tool"], row["check"]) for row in rows}) == len(rows)
    able = {row["feature"] for row in json.loads(doctor("--json").text)["rows"] if row["status"] == "ok"}
    for row in rows:
        if row["verdict"] == "cannot":
            needed, = (FEATURES[begin] for begin in FEATURES if row["why"].startswith(begin))
            assert not able & set(needed), row
    # Tools with BPF programs have a cost.
    costs = [row["ns_per_run"] for row in rows if row["verdict"] == "right"]
    assert sum(cost is not None and cost > 0 for cost in costs) > len(costs) * 3 / 4


@once
def test_without_rights(doctor):
    """Nothing is proved, and nothing is wrong."""
    result = doctor("--prove", user=NOBODY)
    *_, last = result.text.splitlines()
    assert result.code == 0 and re.fullmatch(r"0 right, 0 wrong, 0 hidden, \d\d cannot", last), result


@once
def test_a_stripped_program(tmp_path):
    """As in distributions: the function that is called still has its symbol."""
    program = tmp_path / "tally"
    shutil.copy(BUILD / "tally", program)
    subprocess.run(["strip", program], check=True)
    listed = subprocess.run([program, "list", "--functions", "-x", program, "tally_prove_called"],
                            capture_output=True, text=True, check=True)
    assert "tally_prove_called" in listed.stdout, listed


def test_deadline_is_for_a_proof(doctor):
    assert doctor("--deadline", "10").code == 2
    assert doctor("--prove", "--deadline", "0").code == 2


# --- ends ----------------------------------------------------------------------------------------

def both_of(pid):
    """A load and the tool that measures it."""
    pids = set(family(pid)) - {pid}
    return pids if len(pids) > 1 else None


def begun(tool, *args):
    each = tool("doctor", "--prove", *PATIENT, *args, tool="tally", ready=False)
    return each, wait_until(lambda: both_of(each.pid), "no tool and load")


def programs_of(pids):
    """The BPF programs that these processes hold."""
    held = set()
    for pid in pids:
        try:
            held |= objects_of(pid)["prog"]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return held


def loaded():
    listed = subprocess.run(["/usr/sbin/bpftool", "-j", "prog", "list"], capture_output=True, text=True, check=True)
    return {program["id"] for program in json.loads(listed.stdout)}


@once
@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
def test_nothing_is_left(tool, how):
    files = set(os.listdir("/tmp"))
    each, pids = begun(tool)
    held = wait_until(lambda: programs_of(pids) or all_gone(pids), "no programs")
    result = each.stop(how)
    wait_until(lambda: all_gone(pids), "processes are left")
    wait_until(lambda: held is True or not held & loaded(), "BPF programs are left")
    assert not [name for name in set(os.listdir("/tmp")) - files if name.startswith("tally.")]
    if how != signal.SIGKILL:
        assert result.code == 1 and "checks not run" in result.stderr, result
        assert re.search(r"^\d+ right, 0 wrong, \d+ hidden, \d+ cannot$", result.text, re.M), result


def stopped(pids):
    """Stops these processes, unless they have ended before."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids]
    except (ProcessLookupError, FileNotFoundError):
        return None
    return pids if pids and set(states) == {"T"} else None


@once
def test_a_tool_that_hangs_is_ended(tool):
    """It is killed by its pid, so this kill proves only its own effect."""
    each = tool("doctor", "--prove", "--deadline", "2", tool="tally", ready=False)
    pids = wait_until(lambda: stopped(both_of(each.pid) or ()), "no tool and load")
    wait_until(lambda: all_gone(pids), "what hangs is left")
    result = each.stop(signal.SIGINT)
    assert "by the --deadline, and was killed" in result.text, result
