# SPDX-License-Identifier: BSD-2-Clause
"""Figures may fall, and may not rise; the command that writes them lowers them only."""
import pytest

import sources
from rates import HOLDERS, updated

TEXT = "# about\nwide 137\nheaded 49.8\nother 5\n"


@pytest.fixture(autouse=True)
def known(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RATES", tmp_path / "rates")
    monkeypatch.delenv("TALLY_RATES", raising=False)
    sources.RATES.write_text(TEXT)


@pytest.mark.parametrize("name, found", (("wide", 138), ("headed", 49.9), ("unheard_of", 0)))
def test_what_rises_is_a_failure(name, found):
    with pytest.raises(AssertionError, match="rates.py --update") as failure:
        sources.hold(name, found, ["user/a.c:1"])
    assert "user/a.c:1" in str(failure.value)


@pytest.mark.parametrize("name, found", (("wide", 137), ("wide", 0), ("headed", 49.8), ("headed", 49.84)))
def test_what_does_not_rise_passes(name, found):
    sources.hold(name, found)


def test_update():
    found = {"wide": 140, "headed": 40.1, "new": 1}
    assert updated(TEXT, found) == "# about\nwide 137\nheaded 40.1\nother 5\n"
    assert updated(TEXT, found, force=True) == "# about\nwide 140\nheaded 40.1\nother 5\nnew 1\n"


def test_figures_are_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("TALLY_RATES", str(tmp_path / "notes"))
    sources.hold("wide", 999)
    sources.hold("headed", 1.5)
    assert (tmp_path / "notes").read_text() == "wide 999\nheaded 1.5\n"


def test_all_that_hold_figures_are_asked():
    here = sources.ROOT / "tests" / "static"
    assert {path.name for path in here.glob("test_*.py") if "\n    hold(" in path.read_text()} == set(HOLDERS)
