"""Runs statements in ClickHouse's engine, embedded."""
from chdb import session
from rows import is_query, statements

engine = session.Session()
for one in statements():
    result = engine.query(one, "CSVWithNames")
    if is_query(one):
        # ClickHouse quotes text, and writes an unknown value as \N.
        print(str(result).replace('"', "").replace("\\N", ""), flush=True)
