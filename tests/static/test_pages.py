# SPDX-License-Identifier: BSD-2-Clause
"""The script that writes the options of manual pages."""
import sys

import pytest

from sources import ROOT

sys.path.insert(1, str(ROOT / "docs" / "man"))

import options


def text_of(tool):
    return (options.PAGES / f"{options.name_of(tool)}.1.scd").read_text()


def rewritten(text):
    return options.rewritten(text, "opensnoop", "page")


@pytest.mark.parametrize("entry, fault", (
    ("*--no-such-option*", "no option --no-such-option"), ("*--min*", "--min: described twice"),
    ("*-d*, *--duration*", None), ("*--min* of some time", "not a list of options"),
))
def test_wrong_entries_are_refused(entry, fault):
    text = text_of("opensnoop").replace("# OPTIONS\n", f"# OPTIONS\n\n{entry}\n\tText.\n")
    if fault:
        with pytest.raises(options.Wrong, match=fault):
            rewritten(text)
    else:
        assert "*-d*, *--duration*=_SECONDS_\n\tText.\n" in rewritten(text)


@pytest.mark.parametrize("line, head, text", (
    ("  -p, --pid=PID,..           These: 'a*'", "*-p*, *--pid*=_PID_,...", "\tThese: 'a\\*'."),
    ("      --off[=WHAT]           With -p: not WHAT", "*--off*[=_WHAT_]", "\tWith *-p*: not _WHAT_."),
    ("      --listen=[ADDRESS:]PORT   to listen", "*--listen*=[_ADDRESS_:]_PORT_", "\tTo listen."),
    ("  -e SET                     text, json", "*-e* _SET_", "\tOne of text, json."),
    ("      --detach-on=execve     Stop", "*--detach-on*=*execve*", "\tStop."),
))
def test_lines_of_help(line, head, text):
    option, = options.options(line + "\n").values()
    assert option.entry() == f"{head}\n{text}"
