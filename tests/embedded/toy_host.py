"""A host that does nothing, for tests of the framework: `python -m toy_host NAME HOME [delay_s] [exit code]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pegas_assets.embedded.process import HostSpec, Ownership

name, home, delay, code = (*sys.argv[1:], *["0", "0"][len(sys.argv) - 3 :])
if int(code):
    sys.exit("the toy cannot start: postgres://someone:secret@nowhere/x")
ownership = Ownership.take(HostSpec(name, (), Path(home)))
if ownership is None:
    sys.exit(0)
time.sleep(float(delay))
print("ready", flush=True)
ownership.announce({"answer": 42}, "toy 1")
ownership.wait_for_stop()
ownership.withdraw()
