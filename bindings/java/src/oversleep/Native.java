package oversleep;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The functions of the C library. Its header documents them. */
final class Native {
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final java.lang.foreign.AddressLayout POINTER = ValueLayout.ADDRESS;

    /** {@code OVERSLEEP_UNKNOWN_NS}. */
    static final long UNKNOWN_NS = -1;

    private static final int ABI_VERSION = 1;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = library();

    static final MethodHandle STATUS_TEXT = function("oversleep_status_text", INT, INT, POINTER, LONG, POINTER);

    private Native() {}

    /** The file that the property {@code oversleep.library} names, or the library that the system finds. */
    private static SymbolLookup library() {
        String file = System.getProperty("oversleep.library", System.mapLibraryName("oversleep"));
        SymbolLookup library;
        try {
            library = SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException missing) {
            throw new UnsatisfiedLinkError("the library oversleep could not be loaded from " + file
                    + "; install it with `cargo xtask install-capi`, or set -Doversleep.library=FILE");
        }
        MethodHandle version =
                LINKER.downcallHandle(library.find("oversleep_abi_version").orElseThrow(), FunctionDescriptor.of(INT));
        int found = (int) called(() -> version.invoke());
        if (found != ABI_VERSION) {
            throw new UnsatisfiedLinkError("the library oversleep has interface " + found + ", not " + ABI_VERSION);
        }
        return library;
    }

    static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        MemorySegment address = LIBRARY.find(name).orElseThrow(() -> new UnsatisfiedLinkError(
                "the library oversleep has no " + name + "; install a later version of it"));
        return LINKER.downcallHandle(address, FunctionDescriptor.of(result, arguments));
    }

    /** A call of a method handle. */
    interface Call {
        Object call() throws Throwable;
    }

    static Object called(Call call) {
        try {
            return call.call();
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new AssertionError("a function of the C library throws nothing", failure);
        }
    }

    /** Calls a function that returns a status, and throws if it is a misuse or a failure. */
    static int status(Call call) {
        int status = (int) called(call);
        if (status < 0) {
            throw new IllegalStateException(text((buffer, capacity, length) ->
                    STATUS_TEXT.invoke(status, buffer, capacity, length)));
        }
        return status;
    }

    /** A function that writes text. */
    interface Text {
        Object write(MemorySegment buffer, long capacity, MemorySegment length) throws Throwable;
    }

    static String text(Text text) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(1_024);
            called(() -> text.write(buffer, buffer.byteSize(), MemorySegment.NULL));
            return buffer.getString(0);
        }
    }

    /** A handle that a function creates. */
    static MemorySegment created(java.util.function.Function<MemorySegment, Call> create) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment place = arena.allocate(POINTER);
            status(create.apply(place));
            return place.get(POINTER, 0);
        }
    }
}
