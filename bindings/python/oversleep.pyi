"""Sleeps that end on time, and waits with exact deadlines."""

from collections.abc import Iterator
from types import TracebackType
from typing import Literal, final

__all__ = [
    "Beat",
    "Pacer",
    "Parker",
    "Resolution",
    "__version__",
    "clock",
    "monotonic_ns",
    "sleep",
    "sleep_until",
]

__version__: str

def monotonic_ns() -> int: ...
def sleep(seconds: float) -> None: ...
def sleep_until(deadline_ns: int) -> None: ...
def clock() -> str: ...
@final
class Beat:
    @property
    def period(self) -> int: ...
    @property
    def deadline_ns(self) -> int: ...
    @property
    def lateness_ns(self) -> int: ...
    @property
    def missed(self) -> int: ...

@final
class Pacer:
    def __new__(
        cls,
        *,
        per_second: int | None = None,
        period: float | None = None,
        missed: Literal["skip", "catch-up", "delay"] = "skip",
    ) -> Pacer: ...
    def wait(self) -> Beat: ...
    def poll(self) -> Beat | None: ...
    @property
    def next_deadline_ns(self) -> int: ...
    @property
    def missed(self) -> int: ...
    def __iter__(self) -> Iterator[Beat]: ...
    def __next__(self) -> Beat: ...

@final
class Parker:
    def __new__(cls) -> Parker: ...
    def park(self, timeout: float | None = None) -> bool: ...
    def park_until(self, deadline_ns: int) -> bool: ...
    def unpark(self) -> None: ...

@final
class Resolution:
    def __new__(
        cls,
        *,
        timer_slack: float | None = None,
        time_slice: float | None = None,
        timer: float | None = None,
        real_time: int | None = None,
        multimedia: bool = False,
        cpu_latency: float | None = None,
    ) -> Resolution: ...
    def __enter__(self) -> Resolution: ...
    def __exit__(
        self,
        raised: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
    @property
    def outcomes(self) -> dict[str, tuple[bool, str]]: ...
