#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""rates.py [--update [--force]] - the figures of today beside those of tests/static/rates

--update writes those that fell into the file; with --force also those that rose, and new ones. A figure that cannot be
computed here (no build, no nm) stays as it is."""
import argparse
import os
import subprocess
import sys
import tempfile

from sources import BUILD, RATES, ROOT, rates

HOLDERS = ("test_format.py", "test_prose.py", "test_symbols.py")


def updated(text, found, force=False):
    """The file's text with the figures that fell; with force, all that were found."""
    lines, left = [], dict(found)
    for line in text.splitlines():
        name = line.split(" ")[0]
        if name in left:
            figure = left.pop(name)
            if force or figure < float(line.split()[1]):
                line = f"{name} {figure:g}"
        lines.append(line)
    if force:
        lines += [f"{name} {figure:g}" for name, figure in left.items()]
    return "\n".join(lines) + "\n"


def measured():
    """{name: figure}, from the tests, which write them down instead of holding them."""
    with tempfile.NamedTemporaryFile("r") as notes:
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", "not faults", *HOLDERS]
        env = {**os.environ, "TALLY_BUILD": str(BUILD), "TALLY_RATES": notes.name}
        subprocess.run(command, cwd=RATES.parent, env=env, stdout=sys.stderr, check=False)
        return {name: float(figure) for name, figure in map(str.split, notes)}


def main():
    parser = argparse.ArgumentParser(description="Figures that may only fall.")
    parser.add_argument("--update", action="store_true", help="write those that fell into the file")
    parser.add_argument("--force", action="store_true", help="also those that rose")
    options = parser.parse_args()
    found, known = measured(), rates()
    for name in known | found:
        print(f"{name:28} {known.get(name, 'new'):>8} {found.get(name, 'unknown'):>8}")
    if options.update:
        RATES.write_text(updated(RATES.read_text(), found, options.force))
        print(f"written: {RATES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
