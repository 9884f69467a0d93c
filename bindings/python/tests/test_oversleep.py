"""The module beside Python's own clocks and waits. Bounds of lateness are generous; order and deadlines are exact."""

import signal
import threading
import time
import unittest

import oversleep


def median(values):
    return sorted(values)[len(values) // 2]


class Clock(unittest.TestCase):
    def test_it_is_pythons_monotonic_clock(self):
        for _ in range(100):
            before = time.monotonic_ns()
            between = oversleep.monotonic_ns()
            after = time.monotonic_ns()
            # The library's clock may be ahead of the system's by 0.1 ms.
            self.assertTrue(before - 100_000 <= between <= after + 100_000, (before, between, after))
        self.assertIn("in use", oversleep.clock())


class Sleep(unittest.TestCase):
    def test_no_sleep_ends_early(self):
        for ns in (0, 20_000, 300_000, 2_000_000):
            deadline = oversleep.monotonic_ns() + ns
            oversleep.sleep_until(deadline)
            self.assertGreaterEqual(oversleep.monotonic_ns(), deadline)
            self.assertGreaterEqual(time.monotonic_ns(), deadline)
        start = time.monotonic()
        oversleep.sleep(0.003)
        self.assertGreaterEqual(time.monotonic() - start, 0.003)

    def test_it_is_no_later_than_pythons_own(self):
        ours, theirs = [], []
        for _ in range(60):
            start = time.monotonic_ns()
            oversleep.sleep(0.001)
            ours.append(time.monotonic_ns() - start - 1_000_000)
            start = time.monotonic_ns()
            time.sleep(0.001)
            theirs.append(time.monotonic_ns() - start - 1_000_000)
        print(f"lateness of 1 ms, median: oversleep.sleep {median(ours)} ns, time.sleep {median(theirs)} ns")
        self.assertLess(min(ours), min(theirs))

    def test_bad_times_are_refused(self):
        for seconds in (-1.0, float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                oversleep.sleep(seconds)

    @unittest.skipUnless(hasattr(signal, "setitimer"), "this system has no interval timer")
    def test_a_signal_ends_it(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            oversleep.sleep(60)
        self.assertLess(time.monotonic() - start, 30)
        signal.signal(signal.SIGALRM, before)

    def test_other_threads_run_meanwhile(self):
        counted = [0]
        done = threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        oversleep.sleep(0.05)
        done.set()
        thread.join()
        self.assertGreater(counted[0], 100)


class Pacer(unittest.TestCase):
    def test_every_period_is_delivered_or_missed(self):
        pacer = oversleep.Pacer(per_second=2_000)
        delivered = missed = 0
        for beat in pacer:
            delivered, missed = delivered + 1, missed + beat.missed
            self.assertEqual(beat.period, delivered + missed)
            self.assertGreaterEqual(oversleep.monotonic_ns(), beat.deadline_ns)
            if delivered == 5:
                time.sleep(0.003)
            if delivered == 20:
                break
        self.assertGreaterEqual(missed, 4)
        self.assertEqual(pacer.missed, missed)

    def test_catching_up_misses_nothing(self):
        pacer = oversleep.Pacer(period=0.0005, missed="catch-up")
        time.sleep(0.003)
        self.assertEqual([pacer.wait().period for _ in range(8)], list(range(1, 9)))

    def test_wrong_arguments_are_named(self):
        for arguments in ({}, {"per_second": 0}, {"period": 0.0}, {"per_second": 1, "period": 1.0}):
            with self.assertRaises(ValueError):
                oversleep.Pacer(**arguments)
        with self.assertRaisesRegex(ValueError, "catch-up"):
            oversleep.Pacer(per_second=1, missed="never")


class Parker(unittest.TestCase):
    def test_a_token_is_never_lost(self):
        parker = oversleep.Parker()
        parker.unpark()
        parker.unpark()
        self.assertTrue(parker.park())
        self.assertFalse(parker.park(0.0001))
        thread = threading.Thread(target=parker.unpark)
        thread.start()
        self.assertTrue(parker.park(60.0))
        thread.join()

    def test_the_deadline_is_met(self):
        parker = oversleep.Parker()
        deadline = oversleep.monotonic_ns() + 500_000
        self.assertFalse(parker.park_until(deadline))
        self.assertGreaterEqual(oversleep.monotonic_ns(), deadline)

    def test_one_thread_parks_at_a_time(self):
        parker = oversleep.Parker()
        parked = threading.Thread(target=parker.park)
        parked.start()
        refused = False
        for _ in range(1_000):
            try:
                parker.park(0.0)
            except RuntimeError:
                refused = True
                break
            time.sleep(0.001)
        parker.unpark()
        parked.join(60)
        self.assertTrue(refused and not parked.is_alive())


class Resolution(unittest.TestCase):
    def test_each_request_has_an_outcome(self):
        resolution = oversleep.Resolution(timer_slack=1e-9)
        self.assertEqual(resolution.outcomes, {})
        with resolution as held:
            (name, (holds, sentence)), = held.outcomes.items()
            self.assertEqual(name, "timer slack")
            self.assertIsInstance(holds, bool)
            self.assertTrue(sentence)
        self.assertEqual(resolution.outcomes, {})
        with oversleep.Resolution() as held:
            self.assertTrue(held.outcomes)

    def test_a_time_slice_and_what_this_system_lacks_have_outcomes(self):
        with oversleep.Resolution(time_slice=100e-6, multimedia=True) as held:
            self.assertEqual(set(held.outcomes), {"time slice", "multimedia scheduling"})
        for priority in (0, 100):
            with self.assertRaises(ValueError):
                oversleep.Resolution(real_time=priority)


if __name__ == "__main__":
    unittest.main()
