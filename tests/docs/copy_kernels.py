"""Copy the compiled kernels of the environment that runs this script into another one, so that they are compiled once.

    python tests/docs/copy_kernels.py PYTHON

PYTHON is the interpreter of the other environment. Without compiled kernels here, nothing is copied.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

WHERE = "import calque.kernels; print(calque.kernels.__file__)"


def main(python: str) -> None:
    """Copy the module next to the Python files of the other environment."""
    found = importlib.util.find_spec("calque.kernels._native")
    if found is not None and found.origin is not None:
        place = subprocess.run([python, "-c", WHERE], check=True, capture_output=True, text=True).stdout.strip()
        shutil.copy(found.origin, Path(place).parent)


if __name__ == "__main__":
    main(sys.argv[1])
