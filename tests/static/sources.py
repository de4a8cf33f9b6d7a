# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the static checks: the files of the tree, and figures that may only fall."""
import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TALLY_BUILD", ROOT / "build")).resolve()
RATES = Path(__file__).resolve().parent / "rates"

# Rates are written with one decimal.
SLACK = 0.05

# Others made these: kernel types.
FOREIGN = ("vmlinux/",)


def git(*arguments):
    """The output of git, empty where git is missing or fails: in a tarball, or in a tree of another user."""
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""


def walked(root=ROOT):
    """Paths from root of all files below it, except those of git, Python and the build."""
    made = {root / ".git", root / "build", BUILD}
    return [str(path.relative_to(root)) for path in root.rglob("*")
            if not made & {path, *path.parents} and "__pycache__" not in path.parts]


@functools.cache
def tracked():
    """Paths from the top of the tree of all files that git knows or would add or, without git, of all files."""
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")[:-1] or walked()
    return sorted(name for name in names if (ROOT / name).is_file() and not name.startswith(FOREIGN))


def named(*endings):
    return [name for name in tracked() if name.endswith(endings)]


def text_of(name):
    """The file's text; "" for a file that is not text."""
    try:
        return (ROOT / name).read_bytes().decode()
    except UnicodeDecodeError:
        return ""


def rates():
    """{name: figure}"""
    lines = [line.split() for line in RATES.read_text().splitlines() if line and not line.startswith("#")]
    return {name: float(figure) for name, figure in lines}


def hold(name, found, details=()):
    """A figure that may only fall. details: its causes, the worst first. rates.py asks by TALLY_RATES."""
    notes = os.environ.get("TALLY_RATES")
    if notes:
        with open(notes, "a", encoding="utf-8") as file:
            print(name, f"{found:g}", file=file)
        return
    known = rates().get(name, -1)
    wrong = f"{name} rose from {known:g} to {found:g}" if known >= 0 else f"{name} is not in tests/static/rates"
    advice = "(tests/static/rates.py --update writes figures that fell; with --force, all)"
    assert found <= known + SLACK, "\n".join([f"{wrong}:", *map(str, details), advice])
