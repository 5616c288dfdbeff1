"""What a format is recognised in and read from: a file, a folder or parsed JSON, looked at no further than needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calque.base.errors import CalqueError, ContractError, Issue, Severity
from calque.readers.sources import compression, json_tree

if TYPE_CHECKING:
    from pathlib import PurePath

HEAD = 1 << 16
"""How many bytes of a file tell what it is: enough for one page of NDJSON."""
LOOKED_AT = 10
"""How many files of a folder are looked at to recognize its format."""
NAMED = 5
"""How many files a note names."""
MOST_FILES = 1_000_000
"""How many files of a folder are read; more is taken for a mistake."""


class Source:
    """A file, a folder, or JSON that is already parsed. What was read once is kept.

    >>> Source.of_tree([{"bbox": [0, 0, 1, 1]}]).is_json
    True
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.is_folder = bool(self.path) and os.path.isdir(self.path)

    @classmethod
    def of_tree(cls, tree: Any) -> Source:
        """Parsed JSON as a source."""
        source = cls("")
        source.tree = tree
        return source

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return os.path.basename(self.path)

    @property
    def stem(self) -> str:
        """The name of the file without its folder and its last extension."""
        return self._named().stem

    @property
    def suffix(self) -> str:
        """The last extension of the file, in small letters, with its dot."""
        return self._named().suffix.lower()

    def _named(self) -> PurePath:
        from pathlib import PurePath  # 4 ms, for folders and rarer formats only

        return PurePath(self.path)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, without a byte order mark and blanks; nothing for folders."""
        if not self.path or self.is_folder:
            return b""
        try:
            with compression.opened(self.path) as file:
                return file.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
        except (OSError, CalqueError):
            return b""  # whoever reads the file says what is wrong with it

    @property
    def is_json(self) -> bool:
        """Whether it looks like JSON."""
        return not self.path or self.head[:1] in (b"{", b"[")

    @property
    def is_xml(self) -> bool:
        """Whether it looks like XML."""
        return self.head[:1] == b"<"

    @cached_property
    def data(self) -> bytes:
        """The content of the file; `ContractError` when there is none."""
        return json_tree.read_bytes(self.path)

    @cached_property
    def tree(self) -> Any:
        """The content as parsed JSON; `ContractError` when it is not JSON."""
        return json_tree.parse(self.data, self.path)

    def files(self, *suffixes: str) -> list[Source]:
        """The file itself, or the files of the folder with one of these extensions (default: all), sorted by name."""
        if not self.is_folder:
            return [self]
        sources = [Source(path) for path in sorted(self._inside())]
        return [source for source in sources if not suffixes or source.suffix in suffixes]

    def begins_with(self, looks_like: Callable[[Any], bool]) -> bool:
        """Whether the file, or one of the first JSON files of the folder, contains such a tree."""
        return any(file.is_json and looks_like(file.tree) for file in self.files(".json")[:LOOKED_AT])

    def not_read(self, reads: Callable[[str], bool]) -> list[Issue]:
        """Return a note on the files and folders in this folder that its reader skips.

        ``reads`` says of a name whether the reader uses it; names of folders end with a slash.
        """
        if not self.is_folder:
            return []
        with os.scandir(self.path) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
        skipped = [name for name in names if not name.startswith(".") and not reads(name)]
        if not skipped:
            return []
        listed = ", ".join(skipped[:NAMED]) + (f" and {len(skipped) - NAMED:,} more" if len(skipped) > NAMED else "")
        text = f"{listed} {'is' if len(skipped) == 1 else 'are'} not read"
        return [Issue("not-read", text, self.path, severity=Severity.NOTE)]

    def _inside(self) -> Iterator[str]:
        with os.scandir(self.path) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_FILES:
                    raise ContractError.single(
                        "folder-too-large", f"holds more than {MOST_FILES:,} files", file=self.path, help="give parts of it"
                    )
                if entry.is_file() and not entry.name.startswith("."):
                    yield entry.path
