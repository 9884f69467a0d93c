"""Waits and clocks as a Python program calls them. The protocol is in ../PROTOCOL.md."""

import gc
import itertools
import os
import platform
import sys
import time

now = time.perf_counter_ns
MILLI = 1_000_000


def emit(**record):
    fields = (f'"{name}":{json(value)}' for name, value in record.items())
    sys.stdout.write("{" + ",".join(fields) + "}\n")
    sys.stdout.flush()


def json(value):
    if isinstance(value, list):
        return "[" + ",".join(map(str, value)) + "]"
    return str(value) if isinstance(value, int) else '"' + ascii(str(value))[1:-1].replace('"', "'").replace("\\", "/") + '"'


def exact(ns):
    return ns


def sleep():
    return exact, lambda ns: time.sleep(ns / 1e9)


def busy_sleep():
    """Another thread of this process computes: a thread that wakes up waits for its turn, 5 ms by default."""
    import threading

    def compute():
        while True:
            pass

    threading.Thread(target=compute, daemon=True).start()
    return sleep()


def select_select():
    import select

    if os.name == "nt":  # Windows refuses a select without a socket.
        import socket

        listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listening.bind(("127.0.0.1", 0))
        return exact, lambda ns: select.select([listening], [], [], ns / 1e9)
    return exact, lambda ns: select.select([], [], [], ns / 1e9)


def select_poll():
    import select

    poll = select.poll()
    return exact, lambda ns: poll.poll(ns / 1e6)


def select_epoll():
    import select

    epoll = select.epoll()
    return exact, lambda ns: epoll.poll(ns / 1e9)


def lock():
    import threading

    held = threading.Lock()
    held.acquire()
    return exact, lambda ns: held.acquire(timeout=ns / 1e9)


def event():
    import threading

    never = threading.Event()
    return exact, lambda ns: never.wait(ns / 1e9)


def queue_get():
    import queue

    empty = queue.Queue()

    def wait(ns):
        try:
            empty.get(timeout=ns / 1e9)
        except queue.Empty:
            pass

    return exact, wait


def asyncio_sleep():
    import asyncio

    return exact, lambda ns: asyncio.sleep(ns / 1e9)


def asyncio_wait_for():
    import asyncio

    async def wait(ns):
        try:
            await asyncio.wait_for(asyncio.Event().wait(), ns / 1e9)
        except asyncio.TimeoutError:
            pass

    return exact, wait


WAITS = {
    "time.sleep": sleep,
    "time.sleep(busy)": busy_sleep,
    "select.select": select_select,
    "select.poll": select_poll,
    "select.epoll": select_epoll,
    "Lock.acquire": lock,
    "Event.wait": event,
    "queue.get": queue_get,
    "asyncio.sleep": asyncio_sleep,
    "asyncio.wait_for": asyncio_wait_for,
}


def datetime_now():
    import datetime

    return datetime.datetime.now, None


CLOCKS = {
    "time.perf_counter_ns": lambda: (time.perf_counter_ns, 1),
    "time.monotonic": lambda: (time.monotonic, 1e9),
    "time.time": lambda: (time.time, 1e9),
    "time.process_time": lambda: (time.process_time, 1e9),
    "datetime.now": datetime_now,
}


def measure_all(steps, op):
    """All steps of one operation run in one event loop, or in none."""
    rounded, wait = WAITS[op]()
    if op.startswith("asyncio."):
        import asyncio

        async def each():
            for requested, count in steps:
                # wait_for(0) gives up at once; so is it reported.
                t, d = [0] * count, [0] * count
                begun, collections = time.process_time_ns(), collected()
                for i in range(count):
                    start = now()
                    await wait(requested)
                    end = now()
                    t[i], d[i] = start, end - start
                report(op, requested, rounded(requested), t, d, begun, collections)

        asyncio.run(each())
        return
    for requested, count in steps:
        t, d = [0] * count, [0] * count
        begun, collections = time.process_time_ns(), collected()
        for i in range(count):
            start = now()
            wait(requested)
            end = now()
            t[i], d[i] = start, end - start
        report(op, requested, rounded(requested), t, d, begun, collections)


def collected():
    return sum(generation["collections"] for generation in gc.get_stats())


def report(op, requested, rounded, t, d, begun, collections):
    cpu = time.process_time_ns() - begun
    emit(type="s", op=op, requested=requested, rounded=rounded, n=len(d), unit="ns", t=t, d=d, cpu=cpu,
         gc=collected() - collections)


def measure_clock(op, count, reads=1000):
    read, scale = CLOCKS[op]()
    durations, steps = [0] * count, []
    for i in range(count):
        start = now()
        for _ in range(reads):
            read()
        durations[i] = now() - start
    if scale:
        last, until = read(), now() + 40 * MILLI
        while len(steps) < 16 and now() < until:
            value = read()
            if value > last:
                steps.append(round((value - last) * scale))
            last = value
    emit(type="c", op=op, n=count, reads=reads, d=durations, step=steps)


def main():
    for _ in range(20):
        time.sleep(0.0001)
    resolution = max(1, round(time.get_clock_info("perf_counter").resolution * 1e9))
    emit(type="hello", proto=1, runtime="python", version=platform.python_version(), clock="time.perf_counter_ns",
         res_ns=resolution, pid=os.getpid(), now=now())
    for op, tokens in itertools.groupby(sys.argv[1:], lambda token: token.rsplit("@", 2)[0]):
        if op == "list":
            list_all()
            continue
        steps = [tuple(map(int, token.rsplit("@", 2)[1:])) for token in tokens]
        try:
            if op in WAITS:
                measure_all(steps, op)
            elif op in CLOCKS:
                for _, count in steps:
                    measure_clock(op, count)
            else:
                raise AttributeError("Python has no such call")
        except (AttributeError, ImportError, OSError, ValueError) as error:
            for _ in steps:
                emit(type="skip", op=op, why=error)
    emit(type="end", now=now())


def list_all():
    for op in WAITS:
        emit(type="op", op=op, kind="wait")
    for op in CLOCKS:
        emit(type="op", op=op, kind="clock")


main()
