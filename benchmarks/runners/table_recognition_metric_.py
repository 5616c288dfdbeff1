"""table-recognition-metric (apted, Levenshtein) on pairs of tables; the same arguments and output as calque_tables_.py."""

import json
import sys
import time
from pathlib import Path

from table_recognition_metric import TEDS

pairs = json.loads(Path(sys.argv[2]).read_text("utf-8"))
metric = TEDS(structure_only=sys.argv[1] == "struct")
begin = time.process_time()
values = [metric(truth, read) for truth, read in pairs]
print(json.dumps({"value": sum(values) / len(values), "ms": (time.process_time() - begin) * 1000 / len(pairs)}))
