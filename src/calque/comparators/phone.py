"""The comparator of telephone numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from calque.base.errors import ConfigError, MissingExtra
from calque.comparators.base import BaseComparator


@dataclass(frozen=True)
class PhoneComparator(BaseComparator):
    """1.0 for the same telephone number however it is written, extension included; else 0.0.

    ``region`` says how to read numbers without a country code. Texts that are no telephone numbers are equal when they
    are the same text.

    >>> PhoneComparator().compare("206-555-0100", "+1 (206) 555-0100")
    1.0
    """

    name: ClassVar[str] = "phone"

    region: str = "US"

    def __post_init__(self) -> None:
        super().__post_init__()
        code = self.region if isinstance(self.region, str) else ""
        if not (len(code) == 2 and code.isascii() and code.isupper()) or code == "UK":
            raise ConfigError(f"phone: region must be a two-letter country code such as US or GB, not {self.region!r}")

    def prepare(self, value: Any) -> tuple[str, str]:
        """What kind of text it is, and its canonical form."""
        try:
            import phonenumbers
        except ImportError as error:
            raise MissingExtra("phonenumbers", "phone", "comparing telephone numbers") from error
        text = str(value)
        try:
            number = phonenumbers.parse(text, self.region)
        except phonenumbers.NumberParseException:
            return "text", text.strip()
        if not phonenumbers.is_valid_number(number):
            return "text", text.strip()
        canonical = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        return "number", f"{canonical};{number.extension or ''}"

    def _compare(self, truth: tuple[str, str], found: tuple[str, str]) -> float:
        return 1.0 if truth == found else 0.0
