# SPDX-License-Identifier: BSD-2-Clause
"""Static checks: they read the sources and what the build made of them, and load nothing into the kernel."""
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "live"))
