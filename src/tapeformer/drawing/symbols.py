"""How names and symbols are shown."""


def visible(symbol: str) -> str:
    """Return a symbol or name as it is shown: a space as ␣, what cannot be printed as an escape."""
    if symbol == " ":
        return "␣"
    return symbol if symbol.isprintable() else repr(symbol)[1:-1]
