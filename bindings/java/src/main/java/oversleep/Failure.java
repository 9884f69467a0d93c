package oversleep;

/** The exception for a status of the C library. */
final class Failure {
    private static final int INVALID_ARGUMENT = -2;

    private Failure() {}

    /** What a negative status means: misuse, or a failure of the library. */
    static RuntimeException of(int status, String text) {
        return status == INVALID_ARGUMENT ? new IllegalArgumentException(text) : new IllegalStateException(text);
    }
}
