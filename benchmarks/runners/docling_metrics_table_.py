"""docling-metrics-table (C++), structure only, on pairs of tables; the same arguments and output as calque_tables_.py."""

import json
import sys
import time
from pathlib import Path

from docling_metrics_table.docling_metrics_table import TableMetric, TableMetricHTMLInputSample, TableMetricKind

pairs = json.loads(Path(sys.argv[2]).read_text("utf-8"))
metric = TableMetric([TableMetricKind.TEDS])
begin = time.process_time()
values = [
    metric.evaluate_sample(TableMetricHTMLInputSample(id=str(place), html_a=truth, html_b=read, structure_only=True)).teds.teds
    for place, (truth, read) in enumerate(pairs)
]
print(json.dumps({"value": sum(values) / len(values), "ms": (time.process_time() - begin) * 1000 / len(pairs)}))
