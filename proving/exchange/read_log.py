"""Reads a log of HdrHistogram with hdrh, and prints each tag, its values, and their p50 and p99."""

import math
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

# The range that oversleep records.
HIGHEST = 1 << 60


def at(histogram, share):
    """The value of a share. hdrh rounds the rank to the nearest, others up, so it is given the rank."""
    total = histogram.get_total_count()
    rank = max(1, math.ceil(share * total - 1e-9))
    return histogram.get_value_at_percentile(100.0 * rank / total)


def main():
    by_tag = {}
    reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, HIGHEST, 3))
    while (one := reader.get_next_interval_histogram()) is not None:
        tag = one.get_tag()
        if tag not in by_tag:
            by_tag[tag] = HdrHistogram(1, HIGHEST, 3)
        by_tag[tag].add(one)
    for tag, histogram in sorted(by_tag.items()):
        print(tag, histogram.get_total_count(), at(histogram, 0.5), at(histogram, 0.99), sep="\t")


main()
