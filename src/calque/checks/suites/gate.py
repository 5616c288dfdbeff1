"""The gate of a suite: what must hold for it to pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calque.base.errors import did_you_mean
from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import reaches
from calque.checks.evaluators.settings import Complaints, Key, Keys
from calque.checks.shapes.coordinates import shown

_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def _minima(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise ValueError(f"the minima of evaluators are a mapping NAME: score, not {shown(value)}")
    return {str(name): settings.between(f"the minimum of {name}", 0.0, 1.0)(limit) for name, limit in value.items()}


KEYS = Keys(
    "gate",
    (
        Key("mean_score", settings.between("mean_score", 0.0, 1.0), _SHARE, "the mean score of all cases is at least this"),
        Key("pass_rate", settings.between("pass_rate", 0.0, 1.0), _SHARE, "the share of cases that pass is at least this"),
        Key(
            "evaluators",
            _minima,
            {"type": "object", "additionalProperties": _SHARE},
            "the mean score of each evaluator named here is at least this",
            {},
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Gate:
    """Limits, all inclusive. Without any, no case may fail."""

    mean_score: float | None = None
    pass_rate: float | None = None
    evaluators: Mapping[str, float] = field(default_factory=dict)
    given: bool = False
    """Whether the suite says what must hold."""

    @classmethod
    def from_config(cls, raw: Any, names: tuple[str, ...], complaints: Complaints) -> Gate:
        """The gate that the settings describe."""
        if not isinstance(raw, Mapping) or not raw:
            complaints.add_at("", f"gate is a mapping with {', '.join(KEYS.by_name)}, not {shown(raw)}")
            return cls()
        values = KEYS.read(raw, complaints)
        for name in values["evaluators"]:
            if name not in names:
                hint = did_you_mean(name, names) or f"known are {', '.join(names)}"
                complaints.add(raw["evaluators"], name, f"no evaluator is named {name!r}", help=hint)
        return cls(values["mean_score"], values["pass_rate"], values["evaluators"], given=True)

    @classmethod
    def from_text(cls, text: str) -> Gate:
        """The gate that `to_text` wrote; none from an empty text."""
        return cls(**json.loads(text), given=True) if text else cls()

    def to_text(self) -> str:
        """The limits as JSON, for states: whoever merges them applies the gate of the suite that they are of.

        >>> Gate(pass_rate=0.9, given=True).to_text(), Gate().to_text()
        ('{"evaluators": {}, "mean_score": null, "pass_rate": 0.9}', '')
        """
        limits = {"mean_score": self.mean_score, "pass_rate": self.pass_rate, "evaluators": dict(self.evaluators)}
        return json.dumps(limits, sort_keys=True, ensure_ascii=False) if self.given else ""

    def failures(self, numbers: Mapping[str, Any]) -> list[str]:
        """What does not hold, one line each.

        >>> summary = {"score": 0.85, "pass_rate": 0.5, "fail": 1}
        >>> Gate(mean_score=0.9, given=True).failures({"summary": summary, "evaluators": {}})
        ['mean score 0.8500 is below 0.9']
        """
        summary, evaluators = numbers["summary"], numbers["evaluators"]
        if not self.given:
            failed = summary["fail"] + summary.get("partial_failed", 0)
            return [f"{failed:,} case{'' if failed == 1 else 's'} failed"] if failed else []
        limits = [("mean score", summary["score"], self.mean_score), ("pass rate", summary["pass_rate"], self.pass_rate)]
        limits += [
            (f"the score of {name}", evaluators[name]["score"] if name in evaluators else None, limit)
            for name, limit in self.evaluators.items()
        ]
        return [_line(what, value, limit) for what, value, limit in limits if limit is not None and not _holds(value, limit)]


def _holds(value: float | None, limit: float) -> bool:
    return value is not None and reaches(value, limit)


def _line(what: str, value: float | None, limit: float) -> str:
    return f"{what} {'has no value' if value is None else f'{value:.4f} is below {limit:g}'}"
