"""grits-metric (by the author of GriTS), topology and content, on pairs of tables; used as calque_tables_.py."""

import json
import sys
import time
from pathlib import Path

from grits import grits_con, grits_top, html_to_grids

pairs = json.loads(Path(sys.argv[2]).read_text("utf-8"))
begin = time.process_time()
values = []
for sides in pairs:
    plain = [text.removeprefix("<html><body>").removesuffix("</body></html>") for text in sides]
    grids = [html_to_grids(text) for text in plain]
    grits_top(grids[0]["top"], grids[1]["top"])
    values.append(grits_con(grids[0]["con"], grids[1]["con"])[0])
print(json.dumps({"value": sum(values) / len(values), "ms": (time.process_time() - begin) * 1000 / len(pairs)}))
