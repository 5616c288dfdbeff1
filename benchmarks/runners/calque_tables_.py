"""calque on pairs of tables: `python calque_tables_.py WORK pairs.json` prints the mean and the CPU ms of a pair, as JSON."""

import json
import sys
import time
from pathlib import Path

from calque.tables import compare, teds

work = {
    "teds": teds,
    "struct": lambda truth, read: teds(truth, read, structure_only=True),
    "grits": lambda truth, read: compare(truth, read, only=("grits",))["grits_con"]["f1"],
    "all": lambda truth, read: compare(truth, read)["teds"],
    "pubtabnet": lambda truth, read: teds(truth, read, compat="pubtabnet"),
}[sys.argv[1]]
pairs = json.loads(Path(sys.argv[2]).read_text("utf-8"))
tiny = "<html><body><table><tr><td>a</td></tr></table></body></html>"
work(tiny, tiny)  # imports
begin = time.process_time()
values = [work(truth, read) for truth, read in pairs]
print(json.dumps({"value": sum(values) / len(values), "ms": (time.process_time() - begin) * 1000 / len(pairs)}))
