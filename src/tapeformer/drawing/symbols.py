"""How one symbol is shown."""


def visible(symbol: str) -> str:
    """A symbol as it is drawn: a space would not be seen."""
    return "␣" if symbol == " " else symbol
