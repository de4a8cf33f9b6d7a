# SPDX-License-Identifier: BSD-2-Clause
"""The systemd units: what they run, with which rights, and how systemd rates them."""

import re
import shlex
import shutil
import subprocess

import pytest

from tally import ROOT

needs_setpriv = pytest.mark.skipif(not shutil.which("setpriv"), reason="util-linux's setpriv is not installed")
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")


def unit(name):
    return ROOT / "packaging" / name / f"tally-{name}.service"


def setting(name, key):
    return re.search(f"^{key}=(.*)$", unit(name).read_text(), re.MULTILINE)[1]


def command(name):
    """The arguments of tally."""
    return shlex.split(setting(name, "ExecStart"))[1:]


def rights(name):
    """Capabilities, as setpriv names them."""
    return setting(name, "CapabilityBoundingSet").replace("CAP_", "+").lower().split()


def limited(name):
    """The beginning of a command line that runs a command with the capabilities of the unit and no others."""
    return ["setpriv", "--no-new-privs", f"--bounding-set=-all,{','.join(rights(name))}"]


def check_exposure(name, page):
    """The page has the figure."""
    said = re.search(r"\(systemd (\d+)\)\s+rates\s+it\s+([\d.]+)", (ROOT / page).read_text())
    shown = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True)
    version = shown.stdout.split()[1]
    if version != said[1]:
        pytest.skip(f"systemd {version} weighs otherwise")
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", unit(name)], capture_output=True, text=True, check=False
    )
    assert re.search(rf"exposure level for tally-{name}.service: ([\d.]+)", rated.stdout)[1] == said[2]
