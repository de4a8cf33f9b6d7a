# SPDX-License-Identifier: BSD-2-Clause
"""docs/troubleshooting.md: each command in it runs, and prints what the page says it prints."""
import os
import re
import subprocess

import pytest

import tally
from tally import once

PAGE = tally.ROOT / "docs" / "troubleshooting.md"

# Where this machine is not as those that a section is for: it is made so, in a mount namespace of its own.
PREPARED = {
    "No BTF": "mount -t tmpfs none /sys/kernel/btf; ",
    "Lockdown": "mount -t tmpfs none /sys/kernel/security; "
                "echo 'none integrity [confidentiality]' > /sys/kernel/security/lockdown; ",
    # More processes than one key has room for.
    "Events that were lost, or are inexact": "for i in $(seq 1000); do /bin/true; done > /dev/null 2>&1 & ",
}
NAMESPACES = {"Containers": ("--pid", "--fork", "--mount-proc")}
# The page shows what they are answered with.
REFUSED = ("tally runqlat 1 1", "tally runqlat -p 1 1 1", "setpriv")


def commands():
    """(section, command, the lines shown below it), in the page's order."""
    section, found = None, []
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("    # "):
            found.append((section, line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][2].append(line)
    return found


def pattern(line):
    """Numbers, with their units, and what is left out may be anything; so may the room between columns."""
    parts = [re.escape(part) for part in re.split(r"(?:\b\d[\d,.]*(?: [num]?s\b)?(?=\W|$)|\.\.\.)", " ".join(line.split()))]
    return re.compile(r"\s*" + ".*".join(parts).replace(r"\ ", r"\s+"))


@pytest.fixture(scope="module")
def pid():
    """A shell that computes: Debian's has neither frame pointers nor symbols."""
    with subprocess.Popen(["dash", "-c", "while :; do :; done"]) as process:
        yield process.pid
        process.kill()


@once
@pytest.mark.parametrize("section, command, shown", commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_command(section, command, shown, pid):
    env = {**os.environ, "PATH": f"{tally.BUILD}:{os.environ['PATH']}", "PID": str(pid)}
    script = f"set -o pipefail; {PREPARED.get(section, '')}{command} 2>&1"
    result = subprocess.run(["unshare", "--mount", *NAMESPACES.get(section, ()), "bash", "-c", script], env=env,
                            capture_output=True, text=True, check=False)
    assert (result.returncode != 0) == command.startswith(REFUSED), result
    lines = iter(result.stdout.splitlines())
    for line in shown:
        if line.strip() != "...":
            wanted = pattern(line)
            assert any(wanted.fullmatch(" ".join(real.split())) for real in lines), (line, result.stdout)


def test_each_reason_is_in_the_table():
    source = (tally.ROOT / "user" / "agg" / "loss.c").read_text()
    reasons = re.findall(r'\[LOSS_\w+\] = \{"(\w+)", "([^"]+)"', source)
    assert len(reasons) > 15
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == reasons
