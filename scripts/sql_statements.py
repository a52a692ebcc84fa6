"""The statements of a file of SQL. Imported by other scripts."""


def statements(text):
    """The statements between semicolons, without the lines that are comments. No text in our files has a semicolon."""
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
