"""Seeded pairs of rotated rectangles for the polygon benchmark, as two NumPy files.

    python benchmarks/quads.py 100000 [--cache FOLDER]

prints, as JSON, where the files are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

GENERATOR_VERSION = 1  # Part of the cache's key: raise it with any change to the bytes written.
DEFAULT_CACHE = Path(__file__).resolve().parent / ".cache"
CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def quads(rng: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Rectangles of any angle on a page, as text lines and table cells stand on a photograph."""
    sizes = rng.uniform(5, 60, (count, 1, 2))
    angles = rng.uniform(-np.pi, np.pi, (count, 1))
    upright = CORNERS * sizes
    turned = np.stack(
        [
            upright[..., 0] * np.cos(angles) - upright[..., 1] * np.sin(angles),
            upright[..., 0] * np.sin(angles) + upright[..., 1] * np.cos(angles),
        ],
        axis=-1,
    )
    return rng.uniform(0, 1000, (count, 1, 2)) + turned


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    arguments = parser.parse_args()
    folder = arguments.cache / f"quads-{arguments.count}-v{GENERATOR_VERSION}"
    files = {name: folder / name for name in ("first.npy", "second.npy")}
    if not all(path.exists() for path in files.values()):
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(arguments.count)
        first = quads(rng, arguments.count)
        # One in four is equal or shares an edge; the others lie somewhere on their partner.
        shift = rng.uniform(-12, 12, (arguments.count, 1, 2)) * (rng.random((arguments.count, 1, 1)) > 0.25)
        np.save(files["first.npy"], first)
        np.save(files["second.npy"], first + shift)
    print(json.dumps({name: str(path) for name, path in files.items()}))


if __name__ == "__main__":
    main()
