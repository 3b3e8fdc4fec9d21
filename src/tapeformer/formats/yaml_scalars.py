"""Texts as YAML scalars."""

from __future__ import annotations


def scalar_text(text: str) -> str:
    """Return a text as a YAML scalar that reads back as itself: plain if that is safe, else quoted."""
    if text and text.isascii() and text.replace("_", "a").replace("-", "a").isalnum():
        return text if text[0] not in "-_" and text.lower() not in _WORDS else f"'{text}'"
    return '"' + "".join(map(_escaped, text)) + '"' if _needs_escape(text) else _single(text)


_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _needs_escape(text: str) -> bool:
    return not text or not text.isprintable()


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
