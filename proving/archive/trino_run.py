"""Runs statements in a Trino server, over its HTTP protocol (https://trino.io/docs/current/develop/client-protocol.html).

The second argument is the server's address."""
import json
import sys
import time
import urllib.request

from rows import is_query, show, statements

HEADERS = {"X-Trino-User": "oversleep", "X-Trino-Catalog": "hive", "X-Trino-Schema": "default"}
# How long a server may take to start.
START_S = 600


def call(address, text=None):
    """One answer of the server."""
    request = urllib.request.Request(address, text.encode() if text else None, HEADERS)
    return json.load(urllib.request.urlopen(request, timeout=60))


def run(statement):
    """The heads, the rows and the error of a statement."""
    answer, heads, rows = call(sys.argv[2] + "/v1/statement", statement), [], []
    while True:
        heads = [column["name"] for column in answer.get("columns", [])] or heads
        rows += answer.get("data", [])
        if "error" in answer or "nextUri" not in answer:
            return heads, rows, answer.get("error")
        answer = call(answer["nextUri"])


def run_when_started(statement):
    """The same of a server that may still start: a statement that came too early has failed for good, and is sent again."""
    end = time.monotonic() + START_S
    while True:
        try:
            heads, rows, error = run(statement)
        except (OSError, ValueError) as failure:
            error = {"errorName": "SERVER_STARTING_UP", "message": str(failure)}
        if error is None:
            return heads, rows
        if error.get("errorName") != "SERVER_STARTING_UP" or time.monotonic() > end:
            sys.exit(f"{error['message']}\n{statement}")
        time.sleep(0.5)


for one in statements():
    heads, rows = run_when_started(one)
    if is_query(one):
        show(heads, rows)
