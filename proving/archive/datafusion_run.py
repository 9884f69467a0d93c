"""Runs statements in DataFusion."""
from datafusion import SessionContext
from rows import is_query, show, statements

context = SessionContext()
for one in statements():
    frame = context.sql(one)
    batches = frame.collect()
    if is_query(one):
        heads = [field.name for field in frame.schema()]
        rows = [tuple(row[name] for name in heads) for batch in batches for row in batch.to_pylist()]
        show(heads, rows)
