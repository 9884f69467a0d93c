"""What the engines' programs share: the statements they are given, and how rows are printed."""
import sys


def statements():
    """The statements of the file that the command line names: they end with `;` at the end of a line."""
    text = open(sys.argv[1], encoding="utf-8").read()
    return [one.strip() for one in text.split(";\n") if one.strip()]


def show(heads, rows):
    """A result as CSV, with whole numbers as such and unknown ones empty."""
    print(",".join(heads))
    for row in rows:
        print(",".join("" if value is None else str(value) for value in row))
    print(flush=True)


def is_query(statement):
    """Whether it answers; the first words may be comments."""
    lines = [line for line in statement.splitlines() if line.strip() and not line.startswith("--")]
    return lines[0].split(None, 1)[0].upper() in ("SELECT", "WITH")
