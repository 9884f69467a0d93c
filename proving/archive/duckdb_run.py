"""Runs statements in DuckDB."""
import duckdb
from rows import is_query, show, statements

connection = duckdb.connect()
for one in statements():
    result = connection.execute(one)
    if is_query(one):
        show([column[0] for column in result.description], result.fetchall())
