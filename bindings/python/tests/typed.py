"""Read by mypy, and not run: every use that the stubs must allow, with the type of each result."""

import oversleep

now_ns: int = oversleep.monotonic_ns()
oversleep.sleep(0.001)
oversleep.sleep(1)
oversleep.sleep_until(now_ns + 1)
why: str = oversleep.clock()
version: str = oversleep.__version__

pacer = oversleep.Pacer(per_second=500, missed="catch-up")
for beat in oversleep.Pacer(period=0.5):
    figures: tuple[int, int, int, int] = (beat.period, beat.deadline_ns, beat.lateness_ns, beat.missed)
beat = pacer.wait()
due: oversleep.Beat | None = pacer.poll()
counted: int = pacer.missed + pacer.next_deadline_ns

parker = oversleep.Parker()
parker.unpark()
woken: bool = parker.park() or parker.park(0.1) or parker.park_until(now_ns)

with oversleep.Resolution(timer_slack=1e-9, real_time=10) as held:
    outcomes: dict[str, tuple[bool, str]] = held.outcomes
