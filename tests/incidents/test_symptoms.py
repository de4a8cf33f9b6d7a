# SPDX-License-Identifier: BSD-2-Clause
"""docs/symptoms.md: while a section's incident is staged, its commands print what the page says and name the guilty."""

import os
import re
import subprocess
from itertools import groupby

import pytest

import pages
import staged
import tally
from tally import once

PAGE = tally.ROOT / "docs" / "symptoms.md"
SECTIONS = {section: list(commands) for section, commands in groupby(pages.commands(PAGE), lambda each: each[0])}


def incidents():
    """{section: the incident staged for it}, as the page says in each section."""
    found = {}
    for text in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        names = re.findall(r"`tests/incidents/staged\.py ([a-z-]+)`", text)
        assert len(names) == 1, text
        found[text.splitlines()[0]] = names[0]
    return found


def guilty(facts):
    """The words that a section's commands must print, of those that are specific to this run of the incident."""
    if facts.name == "tcp-drops":
        return [facts.address.rpartition(":")[2]]
    if facts.name == "qdisc-drops":
        return [facts.device]
    if facts.name == "cgroup-throttled":
        return [facts.cgroup]
    if facts.name == "resets":
        return [facts.comm, facts.victim_comm, facts.address.rpartition(":")[2]]
    of_files = ("small-reads", "fsync-neighbour", "enoent-storm", "full-disk", "lock-over-fsync")
    files = [facts.file] if facts.name in of_files else []
    return [facts.comm, *files, *filter(None, (facts.disk,))]


@once
@pytest.mark.parametrize("section, name", incidents().items(), ids=incidents().values())
def test_section(section, name):
    try:
        with staged.staged(name) as facts:
            env = {**os.environ, "PATH": f"{tally.BUILD}:{os.environ['PATH']}", "PID": str(facts.pid),
                   "CGROUP": facts.cgroup_folder or ""}
            printed = ""
            for _, command, shown in SECTIONS[section]:
                assert any(line.strip() != "..." for line in shown), command
                result = subprocess.run(["bash", "-c", f"set -o pipefail; {command} 2>&1"], env=env,
                                        capture_output=True, text=True, check=False)
                assert result.returncode == 0, result
                pages.check_shown(shown, result.stdout)
                printed += result.stdout
            for each in guilty(facts):
                assert re.search(rf"{re.escape(each)}\b", printed), each
    except staged.Missing as missing:
        pytest.skip(str(missing))


@once
def test_each_command_is_in_a_section():
    assert list(SECTIONS) == list(incidents())
    assert set(incidents().values()) <= set(staged.INCIDENTS)
