"""What a ceiling of three systems is held against: three runs of ``calque detect --errors none``, one after the other."""

from __future__ import annotations

import json
import subprocess
import sys

calque, truth, *systems = sys.argv[1:]
found = {}
for system in systems:
    command = [calque, "detect", truth, system, "--errors", "none", "--format", "json", "--quiet"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    micro = json.loads(output)["metrics"]["0.5"]["micro"]
    found[system.rpartition("/")[2].rpartition(".")[0]] = micro["f1"]
print(json.dumps(found))
