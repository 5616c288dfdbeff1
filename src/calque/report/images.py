"""Pictures of pages: found in a folder, made small, and put into the report or beside it."""

from __future__ import annotations

import base64

from calque.core.start_up import Frozen


class Picture(Frozen):
    """A page image that stands in the report itself."""

    number: int
    data: bytes

    def block(self) -> bytes:
        """The image as a part of the page that is nothing but data."""
        return b'<script type="image/webp" data-image="%d">%s</script>\n' % (self.number, base64.b64encode(self.data))


class Beside(Frozen):
    """Page images that stand in a folder beside the report."""

    folder: str
    pictures: tuple[Picture, ...]
