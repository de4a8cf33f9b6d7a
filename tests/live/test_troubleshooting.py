# SPDX-License-Identifier: BSD-2-Clause
"""docs/troubleshooting.md: each command in it runs, and prints what the page says it prints."""
import os
import re
import subprocess

import pytest

import pages
import tally
from tally import beside, once

pytestmark = beside

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


@pytest.fixture(scope="module")
def pid():
    """A shell that computes: Debian's has neither frame pointers nor symbols."""
    with subprocess.Popen(["dash", "-c", "while :; do :; done"]) as process:
        yield process.pid
        process.kill()


@once
@pytest.mark.parametrize("section, command, shown", pages.commands(PAGE), ids=lambda value: value if isinstance(value, str) else "")
def test_command(section, command, shown, pid):
    env = {**os.environ, "PATH": f"{tally.BUILD}:{os.environ['PATH']}", "PID": str(pid)}
    script = f"set -o pipefail; {PREPARED.get(section, '')}{command} 2>&1"
    result = subprocess.run(["unshare", "--mount", *NAMESPACES.get(section, ()), "bash", "-c", script], env=env,
                            capture_output=True, text=True, check=False)
    assert (result.returncode != 0) == command.startswith(REFUSED), result
    pages.check_shown(shown, result.stdout)


def test_each_reason_is_in_the_table():
    source = (tally.ROOT / "user" / "agg" / "loss.c").read_text()
    reasons = re.findall(r'\[LOSS_\w+\] = \{ "(\w+)", "([^"]+)"', source)
    assert len(reasons) > 15
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == reasons
