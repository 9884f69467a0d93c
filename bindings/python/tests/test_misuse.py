"""Wrong and unusual uses, each in a process of its own: they end in an exception or do nothing, and Python lives on."""

import os
import signal
import subprocess
import sys
import unittest

# A process that hangs is ended. Nothing here says how long anything takes.
LIMIT_S = 120

START = """
import os, signal, sys, threading, time
import oversleep

def started(body, *arguments):
    thread = threading.Thread(target=body, args=arguments)
    thread.start()
    return thread

def refused(kind, body, *arguments):
    try:
        body(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"{arguments} were accepted")
"""


class Misuse(unittest.TestCase):
    def ends_well(self, program, repeat=1):
        for _ in range(repeat):
            ended = subprocess.run(
                [sys.executable, "-c", START + program],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
            )
            said = ended.stdout.decode(errors="replace")
            self.assertEqual(ended.returncode, 0, said)
            self.assertNotIn("panicked", said)

    def test_python_ends_while_daemon_threads_wait(self):
        self.ends_well(
            """
def sleeps():
    while True: oversleep.sleep(0.0002)
def paces():
    for beat in oversleep.Pacer(per_second=5_000): pass
for body in (sleeps, sleeps, paces, oversleep.Parker().park):
    threading.Thread(target=body, daemon=True).start()
time.sleep(0.01)
""",
            repeat=10,
        )

    def test_a_parker_is_deleted_while_a_thread_is_parked(self):
        self.ends_well(
            """
parker = oversleep.Parker()
unpark = parker.unpark
thread = started(parker.park)
del parker
unpark()
thread.join()
"""
        )

    def test_many_threads_use_one_of_each(self):
        self.ends_well(
            """
parker, pacer = oversleep.Parker(), oversleep.Pacer(per_second=50_000)
resolution = oversleep.Resolution()
def uses():
    for _ in range(300):
        for body in (lambda: parker.park(0.0), parker.unpark, pacer.wait, pacer.poll, lambda: pacer.missed,
                     resolution.__enter__, lambda: resolution.__exit__(None, None, None), lambda: resolution.outcomes):
            try: body()
            except RuntimeError: pass
threads = [started(uses) for _ in range(4)]
for thread in threads: thread.join()
"""
        )

    def test_a_second_thread_is_told_why(self):
        self.ends_well(
            """
pacer = oversleep.Pacer(period=3600.0)
def waits():
    try: pacer.wait()
    except BaseException as error: print(error)
threading.Thread(target=waits, daemon=True).start()
while True:
    try: pacer.poll()
    except RuntimeError as error:
        assert "use a pacer for each thread" in str(error)
        break
    time.sleep(0.001)
"""
        )

    def test_another_thread_leaves_or_drops_a_block(self):
        self.ends_well(
            """
resolution = oversleep.Resolution()
resolution.__enter__()
def leaves(): print(refused(RuntimeError, resolution.__exit__, None, None, None))
started(leaves).join()
assert resolution.outcomes
resolution.__exit__(None, None, None)
assert resolution.outcomes == {}
kept = [oversleep.Resolution()]
kept[0].__enter__()
started(kept.clear).join()
def holds(): kept.append(oversleep.Resolution().__enter__())
started(holds).join()
kept.clear()
"""
        )

    def test_one_of_several_threads_enters_a_block(self):
        self.ends_well(
            """
for _ in range(50):
    resolution, begins, entered = oversleep.Resolution(), threading.Barrier(4), []
    def enters():
        begins.wait()
        try: entered.append(resolution.__enter__())
        except RuntimeError as error: assert "already held" in str(error)
        begins.wait()
        if len(entered) != 1: print("entered by", len(entered))
        try: resolution.__exit__(None, None, None)
        except RuntimeError as error: assert "another thread" in str(error)
    threads = [started(enters) for _ in range(4)]
    for thread in threads: thread.join()
    assert len(entered) == 1 and resolution.outcomes == {}
"""
        )

    def test_numbers_out_of_range(self):
        self.ends_well(
            """
wrong = (-1.0, float("nan"), float("inf"), 1e300)
for seconds in wrong:
    refused(ValueError, oversleep.sleep, seconds)
    refused(ValueError, oversleep.Parker().park, seconds)
    refused(ValueError, lambda period: oversleep.Pacer(period=period), seconds)
    refused(ValueError, lambda slack: oversleep.Resolution(timer_slack=slack), seconds)
for rate in (0, -1, 2**32, -2**63):
    refused(ValueError, lambda rate: oversleep.Pacer(per_second=rate), rate)
for priority in (0, -1, 100, 256, 2**40):
    refused(ValueError, lambda priority: oversleep.Resolution(real_time=priority), priority)
for past in (0, -1, -2**100):
    oversleep.sleep_until(past)
    assert oversleep.Parker().park_until(past) is False
for body in (oversleep.sleep, oversleep.sleep_until, oversleep.Parker().park_until):
    refused(TypeError, body, None)
    refused(TypeError, body, "1")
assert oversleep.Pacer(period=1.8e19).next_deadline_ns == 2**64 - 1
assert oversleep.Pacer(per_second=10**9).wait().period > 0
token = oversleep.Parker()
token.unpark()
assert token.park(1.8e19) is True
with oversleep.Resolution(timer_slack=1.8e19, timer=1.8e19, time_slice=1.8e19): pass
refused(TypeError, oversleep.Beat)
"""
        )

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_process_forks_while_threads_wait(self):
        self.ends_well(
            """
parker, pacer, own = oversleep.Parker(), oversleep.Pacer(per_second=10_000), oversleep.Pacer(per_second=10_000)
parked = started(parker.park)
is_over = False
def paces():
    while not is_over: pacer.wait()
paced = started(paces)
for _ in range(50):
    oversleep.sleep(0.0003)
    child = os.fork()
    if child == 0:
        try:
            # Threads aren't in the child: what they use stays in use, and everything else works.
            oversleep.sleep(0.0002)
            own.wait()
            assert oversleep.Parker().park(0.0002) is False
            assert "another thread is parked" in refused(RuntimeError, parker.park, 0.0)
            parker.unpark()
            with oversleep.Resolution(): pass
            os._exit(0)
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
is_over = True
parker.unpark()
parked.join()
paced.join()
"""
        )

    def test_a_sub_interpreter_is_refused(self):
        self.ends_well(
            """
try: import _interpreters as interpreters
except ImportError:
    try: import _xxsubinterpreters as interpreters
    except ImportError: sys.exit(0)
other = interpreters.create()
interpreters.run_string(other, '''
try:
    import oversleep
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("a sub-interpreter has the module")
''')
interpreters.destroy(other)
oversleep.sleep(0.0)
"""
        )

    @unittest.skipUnless(hasattr(signal, "pthread_kill"), "this system sends no signals to threads")
    def test_ctrl_c_and_signals_end_waits_of_an_hour(self):
        self.ends_well(
            """
waits = [lambda: oversleep.sleep(3600.0), lambda: oversleep.sleep_until(oversleep.monotonic_ns() + 3600 * 10**9),
         oversleep.Parker().park, lambda: oversleep.Parker().park(3600.0), oversleep.Pacer(period=3600.0).wait]
is_waiting = False
class Terminated(Exception): pass
def handler(number, frame):
    # What comes before the wait or after it is not what is tried here.
    if not is_waiting: return
    if number == signal.SIGINT: signal.default_int_handler(number, frame)
    raise Terminated
def interrupts(number, is_over):
    # The first one may come before the wait.
    while not is_over.wait(0.02): os.kill(os.getpid(), number)
def ends(kind, number, wait):
    global is_waiting
    is_over = threading.Event()
    thread = started(interrupts, number, is_over)
    try:
        try:
            is_waiting = True
            wait()
            os._exit(1)
        except kind: is_waiting = False
    except kind: is_waiting = False
    is_over.set()
    thread.join()
for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, handler)
for wait in waits: ends(KeyboardInterrupt, signal.SIGINT, wait)
for wait in waits: ends(Terminated, signal.SIGTERM, wait)
"""
        )

    def test_the_lock_is_free_while_each_waits(self):
        # Python never switches by itself here, so the other thread runs only while a wait lets it.
        self.ends_well(
            """
sys.setswitchinterval(3600)
for wait in (lambda: oversleep.sleep(0.005), oversleep.Pacer(period=0.005).wait, lambda: oversleep.Parker().park(0.005)):
    counted, begins = [0], threading.Event()
    def counts():
        begins.wait()
        counted[0] += 1
    thread = started(counts)
    begins.set()
    while counted[0] == 0: wait()
    thread.join()
parker = oversleep.Parker()
thread = started(parker.unpark)
assert parker.park()
thread.join()
"""
        )


if __name__ == "__main__":
    unittest.main()
