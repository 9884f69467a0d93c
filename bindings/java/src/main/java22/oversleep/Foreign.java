package oversleep;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The functions of the C library by the foreign function interface of Java 22. The library's header documents them. */
final class Foreign implements Calls {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;

    private static final int ABI_VERSION = 1;
    /** size, period, deadline, lateness, missed: 8 bytes each. */
    private static final long BEAT_BYTES = 40;
    /** size, lateness: 8 bytes each. */
    private static final long WOKEN_BYTES = 16;
    private static final long TEXT_BYTES = 1_024;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = library();

    private static final MethodHandle STATUS_TEXT = function("status_text", INT, POINTER, LONG, POINTER);
    private static final MethodHandle NOW = LINKER.downcallHandle(
            address("clock_now_ordered_ns"), FunctionDescriptor.of(LONG));
    private static final MethodHandle WHY = function("clock_why", POINTER, LONG, POINTER);
    private static final MethodHandle SLEEP_UNTIL = function("sleep_until_ns", LONG);
    private static final MethodHandle NEW_PER_SECOND = function("pacer_new_per_second", INT, POINTER);
    private static final MethodHandle NEW_EVERY = function("pacer_new_every_ns", LONG, POINTER);
    private static final MethodHandle SET_MISSED = function("pacer_set_missed", LONG, INT);
    private static final MethodHandle WAIT = function("pacer_wait", LONG, POINTER);
    private static final MethodHandle FREE_PACER = function("pacer_free", LONG);
    private static final MethodHandle NEW_PARKER = function("parker_new", POINTER);
    private static final MethodHandle PARK = function("parker_park", LONG);
    private static final MethodHandle PARK_UNTIL = function("parker_park_until_ns", LONG, LONG, POINTER);
    private static final MethodHandle UNPARK = function("parker_unpark", LONG);
    private static final MethodHandle FREE_PARKER = function("parker_free", LONG);
    private static final MethodHandle NEW_RESOLUTION = function("resolution_new", POINTER);
    private static final MethodHandle HARMLESS = function("resolution_ask_harmless", LONG);
    private static final MethodHandle SLACK = function("resolution_ask_timer_slack_ns", LONG, LONG);
    private static final MethodHandle TIMER = function("resolution_ask_timer_ns", LONG, LONG);
    private static final MethodHandle REAL_TIME = function("resolution_ask_real_time", LONG, INT);
    private static final MethodHandle CPU_LATENCY = function("resolution_ask_cpu_latency_ns", LONG, LONG);
    private static final MethodHandle SLICE = function("resolution_ask_time_slice_ns", LONG, LONG);
    private static final MethodHandle MULTIMEDIA = function("resolution_ask_multimedia", LONG);
    private static final MethodHandle HOLD = function("resolution_hold", LONG);
    private static final MethodHandle OUTCOME = function("resolution_text", LONG, INT, POINTER, LONG, POINTER);
    private static final MethodHandle FREE_RESOLUTION = function("resolution_free", LONG);

    Foreign() {}

    /** The file that the property {@code oversleep.library} names, the jar's library, or what the system finds. */
    private static SymbolLookup library() {
        String named = System.getProperty("oversleep.library");
        if (named != null) {
            return checked(load(named, "set -Doversleep.library=FILE to another file"), named);
        }
        UnsatisfiedLinkError failure = null;
        for (String folder : Bundled.folders()) {
            try (Bundled copy = Bundled.extract(folder)) {
                if (copy != null) {
                    return checked(SymbolLookup.libraryLookup(copy.file(), Arena.global()), "the jar");
                }
            } catch (IOException | IllegalArgumentException failed) {
                failure = new UnsatisfiedLinkError("the library oversleep in the jar could not be loaded from below "
                        + System.getProperty("java.io.tmpdir") + ": " + failed.getMessage()
                        + "; set -Djava.io.tmpdir=DIRECTORY to one that may hold programs, or -Doversleep.library=FILE");
            }
        }
        if (failure != null) {
            throw failure;
        }
        String system = System.mapLibraryName("oversleep");
        return checked(load(system, "the jar has none for " + System.getProperty("os.name") + " on "
                + System.getProperty("os.arch") + ", so build it with `cargo xtask install-capi`, and set "
                + "-Doversleep.library=FILE"), system);
    }

    private static SymbolLookup load(String file, String nextStep) {
        try {
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException missing) {
            throw new UnsatisfiedLinkError(
                    "the library oversleep could not be loaded from " + file + "; " + nextStep);
        }
    }

    private static SymbolLookup checked(SymbolLookup library, String from) {
        MemorySegment address = library.find("oversleep_abi_version").orElseThrow(
                () -> new UnsatisfiedLinkError(from + " has no oversleep_abi_version, so it isn't the library oversleep"));
        MethodHandle version = LINKER.downcallHandle(address, FunctionDescriptor.of(INT));
        int found;
        try {
            found = (int) version.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
        if (found != ABI_VERSION) {
            throw new UnsatisfiedLinkError(from + " has interface " + found + " of oversleep, not " + ABI_VERSION);
        }
        return library;
    }

    private static MemorySegment address(String name) {
        return LIBRARY.find("oversleep_" + name).orElseThrow(() -> new UnsatisfiedLinkError(
                "the library oversleep has no oversleep_" + name + "; use a later version of it"));
    }

    /** A function that returns a status. Pointers to the library's own things are passed as numbers. */
    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(address(name), FunctionDescriptor.of(INT, arguments));
    }

    /** A call of a function that returns a status. */
    private interface Call {
        int call() throws Throwable;
    }

    private static int status(Call call) {
        int status;
        try {
            status = call.call();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
        if (status < 0) {
            throw Failure.of(status, text((buffer, capacity, length) ->
                    (int) STATUS_TEXT.invokeExact(status, buffer, capacity, length)));
        }
        return status;
    }

    /** Functions of the C library throw nothing, but the machine may run out of stack or memory. */
    private static RuntimeException unexpected(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        throw new AssertionError("a function of the C library throws nothing", failure);
    }

    /** A function that writes text. */
    private interface Text {
        int write(MemorySegment buffer, long capacity, MemorySegment length) throws Throwable;
    }

    private static String text(Text text) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(TEXT_BYTES);
            status(() -> text.write(buffer, TEXT_BYTES, MemorySegment.NULL));
            return buffer.getString(0);
        }
    }

    /** A function that creates something and writes its handle. */
    private interface Create {
        int create(MemorySegment place) throws Throwable;
    }

    private static long created(Create create) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment place = arena.allocate(POINTER);
            status(() -> create.create(place));
            return place.get(POINTER, 0).address();
        }
    }

    @Override
    public long clockNowNs() {
        try {
            return (long) NOW.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    @Override
    public String clockWhy() {
        return text((buffer, capacity, length) -> (int) WHY.invokeExact(buffer, capacity, length));
    }

    @Override
    public void sleepUntilNs(long deadlineNs) {
        status(() -> (int) SLEEP_UNTIL.invokeExact(deadlineNs));
    }

    @Override
    public long newPacerPerSecond(int rate) {
        return created(place -> (int) NEW_PER_SECOND.invokeExact(rate, place));
    }

    @Override
    public long newPacerEveryNs(long periodNs) {
        return created(place -> (int) NEW_EVERY.invokeExact(periodNs, place));
    }

    @Override
    public void setMissed(long pacer, int policy) {
        status(() -> (int) SET_MISSED.invokeExact(pacer, policy));
    }

    @Override
    public Beat awaitBeat(long pacer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment beat = arena.allocate(BEAT_BYTES, Long.BYTES);
            beat.set(LONG, 0, BEAT_BYTES);
            status(() -> (int) WAIT.invokeExact(pacer, beat));
            return new Beat(beat.get(LONG, 8), beat.get(LONG, 16), beat.get(LONG, 24), beat.get(LONG, 32));
        }
    }

    @Override
    public void freePacer(long pacer) {
        status(() -> (int) FREE_PACER.invokeExact(pacer));
    }

    @Override
    public long newParker() {
        return created(place -> (int) NEW_PARKER.invokeExact(place));
    }

    @Override
    public void park(long parker) {
        status(() -> (int) PARK.invokeExact(parker));
    }

    @Override
    public long parkUntilNs(long parker, long deadlineNs) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment woken = arena.allocate(WOKEN_BYTES, Long.BYTES);
            woken.set(LONG, 0, WOKEN_BYTES);
            status(() -> (int) PARK_UNTIL.invokeExact(parker, deadlineNs, woken));
            return woken.get(LONG, 8);
        }
    }

    @Override
    public void unpark(long parker) {
        status(() -> (int) UNPARK.invokeExact(parker));
    }

    @Override
    public void freeParker(long parker) {
        status(() -> (int) FREE_PARKER.invokeExact(parker));
    }

    @Override
    public long newResolution() {
        return created(place -> (int) NEW_RESOLUTION.invokeExact(place));
    }

    @Override
    public void requestHarmless(long resolution) {
        status(() -> (int) HARMLESS.invokeExact(resolution));
    }

    @Override
    public void requestTimerSlackNs(long resolution, long slackNs) {
        status(() -> (int) SLACK.invokeExact(resolution, slackNs));
    }

    @Override
    public void requestTimerNs(long resolution, long periodNs) {
        status(() -> (int) TIMER.invokeExact(resolution, periodNs));
    }

    @Override
    public void requestRealTime(long resolution, int priority) {
        status(() -> (int) REAL_TIME.invokeExact(resolution, priority));
    }

    @Override
    public void requestCpuLatencyNs(long resolution, long latencyNs) {
        status(() -> (int) CPU_LATENCY.invokeExact(resolution, latencyNs));
    }

    @Override
    public void requestTimeSliceNs(long resolution, long sliceNs) {
        status(() -> (int) SLICE.invokeExact(resolution, sliceNs));
    }

    @Override
    public void requestMultimedia(long resolution) {
        status(() -> (int) MULTIMEDIA.invokeExact(resolution));
    }

    @Override
    public void hold(long resolution) {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a virtual thread can't hold finer timing; hold it in a platform thread");
        }
        status(() -> (int) HOLD.invokeExact(resolution));
    }

    @Override
    public String outcome(long resolution, int setting) {
        return text((buffer, capacity, length) ->
                (int) OUTCOME.invokeExact(resolution, setting, buffer, capacity, length));
    }

    @Override
    public void freeResolution(long resolution) {
        status(() -> (int) FREE_RESOLUTION.invokeExact(resolution));
    }
}
