"""Two lists of names compared in Python: `calque_orders_.py compare|read truth.ndjson read.ndjson` prints numbers as JSON.

With `read` names are read and nothing is compared: what the other takes beyond it is the comparison.
"""

import json
import sys
from pathlib import Path

from calque.order import compare

truth, found = (json.loads(Path(path).read_text())["order"] for path in sys.argv[2:])
numbers = {}
if sys.argv[1] == "compare":
    compared = compare(truth, found)
    numbers = {name: getattr(compared, name) for name in ("pairs", "successors", "footrule", "edit")}
print(json.dumps(numbers))
