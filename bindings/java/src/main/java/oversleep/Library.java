package oversleep;

/** Finds the C library, or says why it can't be used: each time that it is needed, and not only the first time. */
final class Library {
    private static final int OLDEST_JAVA = 22;

    private static final Calls CALLS;
    private static final String FAILURE;
    private static final Throwable CAUSE;

    static {
        Calls calls = null;
        String failure = null;
        Throwable cause = null;
        try {
            // Java 17 doesn't see this class: it is in META-INF/versions/22.
            Class<?> foreign = Class.forName("oversleep.Foreign");
            calls = (Calls) foreign.getDeclaredConstructor().newInstance();
        } catch (ClassNotFoundException missing) {
            failure = "the class oversleep.Foreign is missing; use oversleep from its jar, whose manifest says "
                    + "Multi-Release: true";
        } catch (ReflectiveOperationException | LinkageError failed) {
            cause = failed.getCause() == null ? failed : failed.getCause();
            failure = cause.getMessage();
        }
        CALLS = calls;
        FAILURE = failure;
        CAUSE = cause;
    }

    private Library() {}

    static Calls calls() {
        if (CALLS == null) {
            throw failure();
        }
        return CALLS;
    }

    private static Error failure() {
        if (Runtime.version().feature() < OLDEST_JAVA) {
            throw new UnsupportedOperationException("oversleep needs Java " + OLDEST_JAVA + " or later, and this is Java "
                    + Runtime.version() + "; run the program with a later one");
        }
        Error error = new UnsatisfiedLinkError(FAILURE);
        error.initCause(CAUSE);
        return error;
    }
}
