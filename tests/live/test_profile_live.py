# SPDX-License-Identifier: BSD-2-Clause
"""profile --live on a terminal: the screen, the keys, and the terminal's state afterwards."""

import termios

import pytest

import tally
from screens import ENTER, LEAVE, Terminal

pytestmark = tally.once

ROWS = 18


@pytest.fixture
def terminal(ends):
    def start(*args):
        each = Terminal("profile", *args, rows=ROWS)
        ends.callback(each.close)
        return each

    return start


def test_screens(terminal, trigger):
    """Each screen fits, the busiest function of its interval comes first, and q ends the run."""
    load = trigger("shares", 3000, 1)
    screen = terminal("--live", "-I", 300, "-F", 499, "-p", load.pid)
    tally.wait_until(lambda: ENTER in screen.read(), "the screen")
    load.go()
    shown = tally.wait_until(lambda: (s := [lines for lines in screen.screens() if "percent" in str(lines)])[3:] and s,
                             "four screens")
    assert screen.wait(b"xq") == 0, screen.seen
    assert all(len(lines) <= ROWS for lines in shown), shown
    first = []
    for lines in shown:
        at = [line.split() for line in lines].index(["percent", "samples", "comm", "dso", "sym"])
        first.append(lines[at + 1].split()[2:])
    # In a short interval on a busy machine another function may come first by chance.
    assert 2 * first.count(["shares", "shares", "seventy"]) > len(first), shown
    assert (
        screen.seen.count(LEAVE) == screen.seen.count(ENTER) == 1 and "profile: CPU time" in screen.after()
    ), screen.seen
    assert termios.tcgetattr(screen.other) == screen.before


def test_another_size(terminal):
    """A table of all tasks never has more lines than the terminal has now."""
    screen = terminal("--live", "-I", 100, "--idle", "--by", "comm,cpu")
    tally.wait_until(lambda: screen.screens()[1:], "two screens")
    screen.resize(11)
    n = len(screen.screens())
    last = tally.wait_until(lambda: screen.screens()[n + 1:], "screens of the new size")[-1]
    assert len(last) <= 11 and last[-1].startswith("q quits"), last
    assert screen.wait(b"q") == 0


@pytest.mark.parametrize("sign", (2, 15))
def test_signals_give_it_back(terminal, sign):
    screen = terminal("--live", "-I", 100)
    tally.wait_until(lambda: screen.screens()[:1], "a screen")
    screen.process.send_signal(sign)
    assert screen.wait() == 0 and screen.seen.count(LEAVE) == 1, screen.seen
    assert termios.tcgetattr(screen.other) == screen.before


@pytest.mark.parametrize("args, said", (
    ((), "-I 1000"), (("--json",), "--live cannot be combined with other formats"),
    (("-o", "/tmp/x"), "--live cannot be combined with other formats"),
    (("--format", "flame"), "--live cannot be combined with other formats"),
))
def test_refused(run, args, said):
    result = run("--live", *args, tool="profile")
    assert result.code == 2 and said in result.stderr and not result.stdout, result
