# SPDX-License-Identifier: BSD-2-Clause
"""Pages of docs/ with commands in them, and what those print:

    # tally syscount -d 2           a command
    total   1,234,567       0       a line of what it prints; numbers may be others
    ...                             others that are not shown

Each command is run by a test, which looks for the lines below it."""

import re


def commands(page):
    """(section, command, the lines shown below it), in the page's order."""
    section, found = None, []
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("    # "):
            found.append((section, line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][2].append(line)
    return found


def pattern(line):
    """Numbers and addresses, with their units, and omissions may be anything; so may the room between columns."""
    number = r"\b0x[0-9a-f]+|\b\d[\d,.]*(?: [num]?s\b)?(?=\W|$)|(?<=\bloop)\d+"
    parts = re.split(rf"(?:{number}|\.\.\.)", " ".join(line.split()))
    parts = [re.escape(part) for part in parts]
    return re.compile(r"\s*" + ".*".join(parts).replace(r"\ ", r"\s+"))


def check_shown(shown, printed):
    """The lines shown were printed, in their order, with others between them."""
    lines = iter(printed.splitlines())
    for line in shown:
        if line.strip() != "...":
            wanted = pattern(line)
            assert any(wanted.fullmatch(" ".join(real.split())) for real in lines), (line, printed)
