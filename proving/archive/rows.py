"""What the engines' programs share: the statements they are given, and how rows are printed."""
import sys


def statements():
    """The statements of the file that the command line names: they end with `;` at the end of a line."""
    text = open(sys.argv[1], encoding="utf-8").read()
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [one.strip() for one in "\n".join(lines + [""]).split(";\n") if one.strip()]


def show(heads, rows):
    """A result as CSV, with whole numbers as such and unknown ones empty."""
    print(",".join(heads))
    for row in rows:
        print(",".join("" if value is None else str(value) for value in row))
    print(flush=True)


def is_query(statement):
    return statement.split(None, 1)[0].upper() in ("SELECT", "WITH")
