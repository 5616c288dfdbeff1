"""Write the pictures of the README and the docs: the report of the demo, in a real browser.

    python docs/screenshots.py

Needs playwright and Pillow (the extra ``dev``) and Chromium.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
PICTURES = {"report-summary": ("Compare", 700), "report-pages": ("Pages", 720)}
"""File names, with the view of the report and the height of the picture."""
WIDTH, SCALE = 1200, 1.4


def main() -> None:
    """Evaluate, open the report, and take each picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "demo.html"
        demo = [str(Path(sys.executable).with_name("calque")), "demo", "--report", str(report)]
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # calque's own command
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (view, height) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": WIDTH, "height": height}, device_scale_factor=SCALE, color_scheme="light"
            )
            page.goto(report.as_uri())
            page.get_by_role("link", name=view, exact=True).first.click()
            page.wait_for_timeout(1000)
            Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(IMAGES / f"{name}.webp", quality=82, method=6)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
