"""How boxes are read: the settings that every task on boxes shares, and the reading itself."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from calque.base.arguments import renamed_arguments
from calque.corpus.class_map import class_map
from calque.evaluation.task import normalize_settings, setting
from calque.geometry.forms import AUTO, BOX_SPELLINGS, ON

if TYPE_CHECKING:
    from calque.corpus.boxes import Corpus

BOX_FORMATS = (
    "snapshot", "coco", "coco-results", "label-studio", "omnidocbench", "docling", "voc", "page", "alto", "yolo", "plain",
    "cvat", "labelme", "dota", "ndjson", "parquet",
)  # fmt: skip
"""What files with boxes can be, for help and completion: their readers are imported when they read."""


@dataclass(frozen=True, repr=False, kw_only=True)
class BoxReading:
    """A part of tasks: which formats the two sides are in, what their numbers mean and what their labels are called."""

    naming: ClassVar[str] = "pass --document-key stem"
    long_columns: ClassVar[bool] = True

    document_key: str = setting(
        "",
        kind="word",
        key="document-key",
        metavar="KEY",
        help="Document name: stem (of the file name), or an image key in COCO (file_name).",
    )
    lenient: bool = setting(
        False, kind="switch", key="lenient", help="Count unknown keys, duplicate pages and unknown labels, do not refuse them."
    )
    strict: bool = setting(
        False,
        kind="switch",
        view=True,
        help="Refuse NDJSON and Parquet files with a page that cannot be read.",
    )
    from_truth: str = setting(
        "",
        kind="word",
        key="from-truth",
        metavar="FORMAT",
        help="Format of the ground truth; default: detected.",
    )
    from_pred: str = setting(
        "",
        kind="word",
        key="from-pred",
        metavar="FORMAT",
        help="Format of the predictions; default: detected.",
    )
    boxes: Literal["auto", "xyxy", "xywh", "cxcywh", "polygon"] = setting(
        AUTO,
        kind="choice",
        choices=(AUTO, *BOX_SPELLINGS),
        key="boxes",
        help="Box coordinates in lists, NDJSON and Parquet; auto: as declared or xyxy.",
    )
    on: Literal["shapes", "boxes", "masks"] = setting(
        "shapes",
        kind="choice",
        choices=ON,
        key="on",
        help="Geometry to compare.",
    )
    units: Literal["auto", "pixels", "normalized", "percent", "thousand"] = setting(
        AUTO,
        kind="choice",
        choices=(AUTO, "pixels", "normalized", "percent", "thousand"),
        key="units",
        help="Units of coordinates; auto: as declared, else pixels.",
    )
    origin: Literal["top_left", "bottom_left"] = setting(
        "top_left",
        kind="choice",
        choices=("top_left", "bottom_left"),
        key="origin",
        help="Origin of coordinates in plain lists, NDJSON and Parquet.",
    )
    page_size: tuple[float, ...] = setting(
        (),
        kind="numbers",
        key="page-size",
        metavar="W,H",
        help="Width and height of pages whose file does not give them.",
    )
    class_map: tuple[tuple[str, str], ...] = setting(
        (), kind="file", key="class-map", help="Class map: YAML or JSON with label: new name."
    )
    class_map_truth: tuple[tuple[str, str], ...] = setting(
        (), kind="file", key="class-map-truth", help="Class map for the ground truth."
    )
    class_map_pred: tuple[tuple[str, str], ...] = setting(
        (), kind="file", key="class-map-pred", help="Class map for the predictions."
    )

    def __post_init__(self) -> None:
        from calque.base.errors import ConfigError

        normalize_settings(self)
        for name in ("class_map", "class_map_truth", "class_map_pred"):
            object.__setattr__(self, name, class_map(getattr(self, name)))
        if self.class_map and (self.class_map_truth or self.class_map_pred):
            raise ConfigError("--class-map is for both sides; give it alone, or a map for each side")
        object.__setattr__(self, "page_size", tuple(float(side) for side in self.page_size))
        if self.page_size and not (len(self.page_size) == 2 and all(0 < side < float("inf") for side in self.page_size)):
            raise ConfigError(f"page_size must be a width and a height above 0 (W,H), not {list(self.page_size)}")

    @renamed_arguments(expected="truth", found="predictions")
    def box_batches(
        self, truth: Any, predictions: Any, *, allow_missing_scores: bool, jobs: int = 1
    ) -> Iterator[tuple[Corpus, Corpus]]:
        """The two sides on one scale, with one set of labels, checked against each other.

        They come in batches of whole documents where both can be streamed, else all at once.
        """
        from calque.corpus.boxes import Batches, documents_to_come
        from calque.readers import stream_pair

        batches = stream_pair(
            truth,
            predictions,
            allow_missing_scores=allow_missing_scores,
            metadata=self.wants_metadata(),
            **self._sides(),
            **self._rules(),
        )
        settled = (self._settled(*pair, jobs) for pair in batches)
        return Batches(settled, documents_to_come(batches))

    def _settled(self, truth: Corpus, found: Corpus, jobs: int = 1) -> tuple[Corpus, Corpus]:
        """The two sides with masks that can be compared, where masks are asked for or are all that there is."""
        kind = self._kept()
        if kind != "masks" and getattr(truth, "masks", None) is getattr(found, "masks", None) is None:
            return truth, found
        from calque.evaluation.boxes.mask_reading import settled

        return settled(truth, found, kind, page_size=self.page_size or None, jobs=jobs)

    @renamed_arguments(expected="truth", found="predictions")
    def read_boxes(self, truth: Any, predictions: Any, *, allow_missing_scores: bool) -> tuple[Corpus, Corpus]:
        """The two sides as `box_batches` has them, all at once."""
        from calque.readers import read_pair

        sides = read_pair(
            truth,
            predictions,
            allow_missing_scores=allow_missing_scores,
            metadata=self.wants_metadata(),
            **self._sides(),
            **self._rules(),
        )
        return self._settled(*sides)

    def read_truth(self, source: Any) -> Corpus:
        """The truth by itself."""
        from calque.readers import read

        names = self.class_map_truth or self.class_map
        truth = read(source, side="ground_truth", format=self.from_truth or None, class_map=names, **self._rules())
        return self._settled(truth, truth)[0]

    def read_annotations(self, first: Any, second: Any) -> tuple[Corpus, Corpus]:
        """What two annotators drew. COCO results, which have no classes of their own, take those of the first."""
        from calque.corpus.boxes import Side
        from calque.readers import read

        other = read(second, format=self.from_pred or None, allow_missing_scores=True, **self._rules())
        if getattr(other, "side", None) is Side.FOUND:
            return self.read_boxes(first, second, allow_missing_scores=True)
        one = read(first, side="ground_truth", format=self.from_truth or None, **self._rules())
        # Both are named by now, and names are not shortened twice.
        return dataclasses.replace(self, document_key="").read_boxes(one, other, allow_missing_scores=True)

    def _kept(self) -> str:
        """What of objects has to be read: where two kinds are shown side by side, whatever either needs."""
        kinds = {self.on, getattr(self, "beside", "none")}
        return next(kind for kind in ("masks", "shapes", "boxes") if kind in kinds)

    def _sides(self) -> dict[str, Any]:
        """The keywords of `calque.readers.read_pair` that are each side's own."""
        return {
            "from_truth": self.from_truth or None,
            "from_pred": self.from_pred or None,
            "class_map_truth": self.class_map_truth or self.class_map,
            "class_map_pred": self.class_map_pred or self.class_map,
        }

    def numbers_only(self) -> Self:
        """The same, without the names of the pages' pictures: only outcomes are looked at on their page."""
        lean = copy.copy(self)
        object.__setattr__(lean, "_names_pictures", False)
        return lean

    @property
    def keeps_outcomes(self) -> bool:
        """Whether somebody will look at outcomes, and not at numbers alone."""
        return getattr(self, "_names_pictures", True)

    def wants_metadata(self) -> bool:
        """Whether slices need what the files know of their documents."""
        return bool(getattr(self, "by", ()))

    def _rules(self) -> dict[str, Any]:
        """The keywords of `calque.read` that both sides share."""
        return {
            "images": getattr(self, "_names_pictures", True),
            "lenient": self.lenient,
            "strict": self.strict,
            "document_key": self.document_key or None,
            "on": self._kept(),
            "boxes": self.boxes,
            "units": self.units,
            "origin": self.origin,
            "page_size": self.page_size or None,
        }
