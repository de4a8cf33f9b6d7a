# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures shared by several of these files."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder that `make dist` leaves."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "packaging" / "dist", folder], env={**os.environ, "MAKEFLAGS": f"-j{os.cpu_count()}"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder
