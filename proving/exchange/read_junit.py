"""Parses JUnit's XML, holds its counts against its cases, and prints each case's verdict, class and name."""

import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot()
assert suite.tag == "testsuite", suite.tag
cases = list(suite)
assert all(case.tag == "testcase" for case in cases), [case.tag for case in cases]
count = {"failure": 0, "skipped": 0}
verdicts = {None: "pass", "failure": "fail", "skipped": "undecided"}
for case in cases:
    assert set(case.attrib) == {"classname", "name", "time"} and float(case.get("time")) >= 0, case.attrib
    of = [child.tag for child in case]
    assert len(of) <= 1 and all(child.get("message") for child in case), of
    kind = of[0] if of else None
    if kind:
        count[kind] += 1
    print(verdicts[kind], case.get("classname"), case.get("name"), sep="\t")
stated = {name: int(suite.get(name)) for name in ("tests", "failures", "skipped", "errors")}
found = {"tests": len(cases), "failures": count["failure"], "skipped": count["skipped"], "errors": 0}
assert stated == found, (stated, found)
