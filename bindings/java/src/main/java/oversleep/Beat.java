package oversleep;

/**
 * A period that a {@link Pacer} delivered.
 *
 * @param period counted from the start; the first delivered is 1
 * @param deadlineNs when it was due
 * @param latenessNs how long after its deadline it was delivered
 * @param missed how many periods were skipped before it
 */
public record Beat(long period, long deadlineNs, long latenessNs, long missed) {}
