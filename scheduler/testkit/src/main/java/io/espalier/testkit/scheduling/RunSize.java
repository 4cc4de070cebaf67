package io.espalier.testkit.scheduling;

/**
 * The size of a random run.
 *
 * @param compareEvery number of steps between two full comparisons; every start is always checked
 *     to be allowed, and so is that nothing was left that could have started
 * @param scarce whether jobs mostly wait for each other's slots, and often for long enough
 * @param closing whether nodes are closed and opened, and factors set and removed
 * @param grouped whether there are redundancy groups, and no reservations
 * @param batched whether jobs have batches
 * @param verified whether tasks that are done may have to be verified
 * @param staged whether tasks wait for the stages of roll-outs
 */
public record RunSize(
    int jobs,
    int nodesPerLevel,
    int steps,
    int compareEvery,
    boolean scarce,
    boolean closing,
    boolean grouped,
    boolean batched,
    boolean verified,
    boolean staged) {
  RunSize(int jobs, int nodesPerLevel, int steps) {
    this(jobs, nodesPerLevel, steps, 1, false, false);
  }

  RunSize(
      int jobs, int nodesPerLevel, int steps, int compareEvery, boolean scarce, boolean closing) {
    this(jobs, nodesPerLevel, steps, compareEvery, scarce, closing, false, false, false, false);
  }

  /** A long run with infrequent full comparisons. */
  public static final RunSize LONG = new RunSize(6, 8, 5_000, 50, false, true);

  public static final RunSize SMALL = new RunSize(6, 8, 60);

  /** Redundancy groups, in a busy world. */
  public static final RunSize GROUPED =
      new RunSize(6, 8, 120, 4, false, false, true, false, false, false);

  /** A long run of the same with infrequent full comparisons. */
  public static final RunSize LONG_GROUPED =
      new RunSize(6, 8, 5_000, 50, false, true, true, false, false, false);
}
