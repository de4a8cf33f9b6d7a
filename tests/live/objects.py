# SPDX-License-Identifier: BSD-2-Clause
"""The BPF programs, maps and links that a process holds."""

import re
from pathlib import Path


def objects_of(pid):
    """Programs, maps and links that a process holds: {"prog": ids, ...}."""
    found = {"prog": set(), "map": set(), "link": set()}
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = path.read_text()
        except FileNotFoundError:
            continue
        for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)$", text, re.M):
            found[kind].add(int(number))
    return found
