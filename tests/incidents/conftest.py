# SPDX-License-Identifier: BSD-2-Clause
"""These are live tests, too: with what those have."""

import importlib.util
import sys
from pathlib import Path

LIVE = Path(__file__).resolve().parents[1] / "live"
sys.path.insert(1, str(LIVE))

spec = importlib.util.spec_from_file_location("live_conftest", LIVE / "conftest.py")
live = importlib.util.module_from_spec(spec)
spec.loader.exec_module(live)

pytest_configure = live.pytest_configure
pytest_runtest_makereport = live.pytest_runtest_makereport
pytest_collection_modifyitems = live.pytest_collection_modifyitems
ends, directory, tool, run, trigger = live.ends, live.directory, live.tool, live.run, live.trigger
no_tracefs_is_left = live.no_tracefs_is_left
