"""Reports: how large they are, what writing one costs, and how fast a real browser opens it and steps through it.

    python benchmarks/reports.py [rows ...]

Each report is written in this process and opened from disk in the system's Chromium, offline. Prints one Markdown row for each.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from calque import Corpus, Detection, Evaluator, Fields, Result, Words
from calque.order import Order
from calque.report.page import app as app_of

LABELS = ["Text", "Title", "Table", "Figure", "List"]
STEPS = 21
IMAGES, MOST_IMAGES = "images", 100_000_000
OPENED = 3
"""How often each report is opened."""


def boxes(pages: int, each: int) -> tuple[Result, int]:
    """Pages with boxes, of which nine of ten are found with some noise; beside them how many boxes there are."""
    rng = np.random.default_rng(5)
    count = pages * each
    corner = rng.uniform(0, 800, (count, 2))
    truth = np.column_stack([corner, corner + rng.uniform(20, 180, (count, 2))])
    noise = truth + rng.normal(0, 6, (count, 4))
    noise[:, 2:] = np.maximum(noise[:, 2:], noise[:, :2] + 1)
    labels = rng.integers(0, len(LABELS), count)
    page = np.repeat(np.arange(pages), each)
    documents = np.array([f"document-{number // 10:05}.pdf" for number in range(pages)], dtype=object)[page]
    kept = rng.random(count) < 0.9
    shared = {"label_names": LABELS}
    expected = Corpus.from_arrays(truth, labels, documents=documents.tolist(), pages=page % 10, **shared)
    scores = rng.random(int(kept.sum())).round(4)
    found = Corpus.from_arrays(
        noise[kept], labels[kept], documents=documents[kept].tolist(), pages=page[kept] % 10, scores=scores, **shared
    )
    return Evaluator(Detection()).update(expected, found).compute(), count + int(kept.sum())


def words(count: int) -> tuple[Result, int]:
    """One document, of which every tenth word is read wrongly."""
    rng = np.random.default_rng(3)
    text = [f"word{number}" for number in rng.integers(0, 5000, count).tolist()]
    read = [f"{word}x" if place % 10 == 3 else word for place, word in enumerate(text)]
    return Evaluator(Words()).update({"one": " ".join(text)}, {"one": " ".join(read)}).compute(), 2 * count


def fields(documents: int) -> tuple[Result, int]:
    """Records with eight values each, of which one of ten is wrong."""
    truth = [
        {"id": f"record-{row}", **{f"field_{at}": f"value {row % 97} {at}" for at in range(8)}} for row in range(documents)
    ]
    found = [{**record, f"field_{row % 8}": "nothing alike"} if row % 10 < 8 else record for row, record in enumerate(truth)]
    return Evaluator(Fields()).update(truth, found).compute(), 8 * documents


def order(pages: int, each: int) -> tuple[Result, int]:
    """Pages of two columns, every fifth of which is read across them."""
    spots = [
        [60 + 250 * (place % 2), 20 * (place // 2), 290 + 250 * (place % 2), 20 * (place // 2) + 16] for place in range(each)
    ]
    down = [str(place) for place in [*range(0, each, 2), *range(1, each, 2)]]
    shared = {
        "boxes": spots,
        "labels": ["text"] * each,
        "ids": [str(place) for place in range(each)],
        "width": 600,
        "height": 800,
    }
    rows = [{"doc_id": f"document-{page // 10:05}", "page_index": page % 10, **shared} for page in range(pages)]
    across = [str(place) for place in range(each)]
    truth = [{**row, "order": down} for row in rows]
    found = [{**row, "order": across if page % 5 == 0 else down} for page, row in enumerate(rows)]
    return Evaluator(Order()).update(truth, found).compute(), 2 * pages * each


def pictured(folder: Path, pages: int = 172) -> tuple[Result, int]:
    """Pages that have an error each, and a picture of noise that no compression makes small."""
    from PIL import Image

    rng = np.random.default_rng(7)
    (folder / IMAGES).mkdir()
    for page in range(pages):
        noise = rng.integers(0, 256, (1131, 800, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / IMAGES / f"document-{page:05}-0.png", compress_level=0)
    names = [f"document-{page:05}" for page in range(pages)]
    truth = Corpus.from_arrays([[20, 20, 200, 200]] * pages, ["Figure"] * pages, documents=names)
    found = Corpus.from_arrays([[210, 210, 300, 300]] * pages, ["Figure"] * pages, documents=names, scores=[0.5] * pages)
    return Evaluator(Detection()).update(truth, found).compute(), 2 * pages


REPORTS: dict[str, tuple[Callable[[Path], tuple[Result, int]], str, str, str]] = {
    "boxes-500": (lambda _: boxes(500, 21), "500 pages, 20,000 boxes", "j", "boxes"),
    "boxes-5000": (lambda _: boxes(5000, 13), "5,000 pages, 120,000 boxes", "j", "boxes"),
    "boxes-20000": (lambda _: boxes(20000, 21), "20,000 pages, 800,000 boxes", "j", "boxes"),
    "images": (pictured, "100 MB of inlined images", "j", "boxes"),
    "words": (lambda _: words(100_000), "one document of 100,000 words", "n", "words"),
    "fields": (lambda _: fields(2000), "2,000 records, 16,000 values", "n", "fields"),
    "order": (lambda _: order(1000, 40), "1,000 pages, 80,000 blocks in order", "j", "boxes"),
}
"""How each is made, what it is, the key that steps, and which app it holds."""


def browser() -> Iterator[Any]:
    """The system's Chromium."""
    from playwright.sync_api import sync_playwright

    found = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--enable-precise-memory-info"])
        yield running
        running.close()


STEP = """async (key) => {
  const begin = performance.now();
  dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begin;
}"""


class Opened:
    """A report in the browser: how long it took until it was ready, and what steps cost, in wall time and in CPU time."""

    def __init__(self, running: Any, path: Path, key: str) -> None:
        context = running.new_context(offline=True, viewport={"width": 1440, "height": 900})
        page = context.new_page()
        self._session = context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        begin = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=true]", timeout=120_000)
        self.ready, self.ready_cpu = time.perf_counter() - begin, self._busy()
        self.steps: list[float] = []
        self.steps_cpu: list[float] = []
        self.nodes: int = page.evaluate("document.querySelectorAll('*').length")
        for _ in range(STEPS):
            before = self._busy()
            self.steps.append(page.evaluate(STEP, key))
            self.steps_cpu.append(1000 * (self._busy() - before))
            self.nodes = max(self.nodes, page.evaluate("document.querySelectorAll('*').length"))
        # The first step may change the view.
        del self.steps[0], self.steps_cpu[0]
        self.heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        context.close()

    def _busy(self) -> float:
        """Seconds that the page's thread has worked."""
        told = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in told if one["name"] == "TaskDuration"))


def main() -> None:
    """Print a row for each report."""
    chosen = sys.argv[1:] or list(REPORTS)
    print("| report | file | bytes each, without app | writing (CPU) | opens (wall; CPU) | a step (wall; CPU) | nodes | heap |")
    print("|---|---|---|---|---|---|---|---|")
    for running in browser():
        for name in chosen:
            make, title, key, app = REPORTS[name]
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                result, count = make(folder)
                path = folder / "report.html"
                pictures = {"images": str(folder / IMAGES), "size": MOST_IMAGES} if (folder / IMAGES).is_dir() else {}
                begin = time.process_time()
                result.report(path, **pictures)
                cpu, size = time.process_time() - begin, path.stat().st_size
                del result
                shell = sum(len(part) for part in app_of(app))
                runs = [Opened(running, path, key) for _ in range(OPENED)]
            steps, busy = ([step for run in runs for step in getattr(run, name)] for name in ("steps", "steps_cpu"))
            print(
                f"| {title} | {size / 1e6:.2f} MB | {(size - shell) / count:.1f} | {cpu:.2f} s | "
                f"{min(run.ready for run in runs):.2f}; {min(run.ready_cpu for run in runs):.2f} s | "
                f"{statistics.median(steps):.0f}; {statistics.median(busy):.0f} ms | {max(run.nodes for run in runs):,} | "
                f"{max(run.heap for run in runs):.0f} MB |"
            )


if __name__ == "__main__":
    main()
