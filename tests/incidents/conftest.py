# SPDX-License-Identifier: BSD-2-Clause
"""These are live tests, too: with what those have."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIVE = HERE.parent / "live"
sys.path.insert(1, str(LIVE))

spec = importlib.util.spec_from_file_location("live_conftest", LIVE / "conftest.py")
live = importlib.util.module_from_spec(spec)
spec.loader.exec_module(live)

pytest_configure = live.pytest_configure
ends, directory, tool, run, trigger = live.ends, live.directory, live.tool, live.run, live.trigger
no_tracefs_is_left = live.no_tracefs_is_left


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """A staged problem is one of the whole machine."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.exclusive)
    live.pytest_collection_modifyitems(config, items)
