package oversleep;

/**
 * The functions of the C library, without the types by which Java 22 and later call them: Java 17 knows this interface,
 * too. Each throws what {@link Failure} makes of the function's status. A handle is a pointer, and 0 is none.
 */
interface Calls {
    /** {@code OVERSLEEP_UNKNOWN_NS}. */
    long UNKNOWN_NS = -1;

    long clockNowNs();

    String clockWhy();

    void sleepUntilNs(long deadlineNs);

    long newPacerPerSecond(int rate);

    long newPacerEveryNs(long periodNs);

    void setMissed(long pacer, int policy);

    Beat awaitBeat(long pacer);

    void freePacer(long pacer);

    long newParker();

    void park(long parker);

    /** How late it was, or {@link #UNKNOWN_NS} if another thread ended it. */
    long parkUntilNs(long parker, long deadlineNs);

    void unpark(long parker);

    void freeParker(long parker);

    long newResolution();

    void requestHarmless(long resolution);

    void requestTimerSlackNs(long resolution, long slackNs);

    void requestTimerNs(long resolution, long periodNs);

    void requestRealTime(long resolution, int priority);

    void requestCpuLatencyNs(long resolution, long latencyNs);

    void requestTimeSliceNs(long resolution, long sliceNs);

    void requestMultimedia(long resolution);

    void hold(long resolution);

    String outcome(long resolution, int setting);

    void freeResolution(long resolution);
}
