"""Write the seed corpus of the fuzzer: each sample in several styles, behind the byte that chooses the kind."""

import sys
from pathlib import Path

KINDS = {"truth": 1, "results": 2, "named": 2, "snapshot": 3, "empty": 0}
NUMBERS = ["0.1", "-123.45678901234567", "1e22", "9007199254740993", "5e-324", "1e400", "0." + "1" * 30, "1" * 25]

PAGES = [
    b'{"doc_id":1,"page_index":0,"width":9.5,"height":8,"boxes":[[1,2,3,4]],"labels":["a"],"scores":[0.5],"ids":[7],"crowd":[true]}\n',
    b'{"doc_id":"a","boxes":[[1,2,3,4],[0,0,1,1]],"labels":["a","b"],"area":[null,2.5],"ids":["x","y"],"kind":"k"}\r\n\n',
    b'{"doc_id":"b","boxes":null,"labels":[]}',
]


def main(folder: Path) -> None:
    """Fill the folder."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from tests.kernels.scan_samples import SAMPLES, write

    folder.mkdir(parents=True, exist_ok=True)
    for name, tree in SAMPLES.items():
        for style in ("default", "compact", "indent2"):
            for kind in {0, KINDS[name]}:
                (folder / f"{name}-{style}-{kind}").write_bytes(bytes([kind]) + write(tree, style))
    for number, literal in enumerate(NUMBERS):
        (folder / f"number-{number}").write_bytes(b"\x04" + literal.encode())
    (folder / "pages-0").write_bytes(b"\x05" + PAGES[0] * 2)
    (folder / "keys").write_bytes(b"\x06" + rb'{"a": [{"b": 1, "c\u0064": "x"}], "e": {}, "a": 2}')
    (folder / "pages-1").write_bytes(b"\x05" + b"".join(PAGES[1:]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
