"""jiwer: the word error rate of `python jiwer_.py pages.json`, from folders of text files, as JSON."""

import json
import sys
from pathlib import Path

import jiwer

folders = json.loads(Path(sys.argv[1]).read_text())
names = sorted(path.name for path in Path(folders["truth"]).iterdir())
truth, predicted = (
    [" ".join(Path(folders[side], name).read_text().split()) for name in names] for side in ("truth", "predicted")
)
print(json.dumps(jiwer.process_words(truth, predicted).wer))
