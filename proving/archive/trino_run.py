"""Runs statements in a Trino server, over its HTTP protocol (https://trino.io/docs/current/develop/client-protocol.html).

The second argument is the server's address."""
import json
import sys
import time
import urllib.request

from rows import is_query, show, statements

HEADERS = {"X-Trino-User": "oversleep", "X-Trino-Catalog": "hive", "X-Trino-Schema": "default"}


def call(address, text=None):
    """One answer of the server. A server that still starts is called again, for ten minutes."""
    request = urllib.request.Request(address, text.encode() if text else None, HEADERS)
    for _ in range(1200):
        try:
            answer = json.load(urllib.request.urlopen(request, timeout=60))
        except (OSError, ValueError) as error:
            last = str(error)
        else:
            if "SERVER_STARTING_UP" not in json.dumps(answer.get("error", "")):
                return answer
            last = "the server is still starting"
        time.sleep(0.5)
    sys.exit(last)


for one in statements():
    answer, heads, rows = call(sys.argv[2] + "/v1/statement", one), [], []
    while True:
        if "error" in answer:
            sys.exit(f"{answer['error']['message']}\n{one}")
        heads = [column["name"] for column in answer.get("columns", [])] or heads
        rows += answer.get("data", [])
        if "nextUri" not in answer:
            break
        answer = call(answer["nextUri"])
    if is_query(one):
        show(heads, rows)
