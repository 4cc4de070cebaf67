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

  /** Many reservations for jobs that others would starve. */
  public static final RunSize SCARCE = new RunSize(6, 8, 120, 10, true, false);

  /** Nodes that are closed, and limits that are lowered by factors. */
  public static final RunSize CLOSING = new RunSize(6, 8, 60, 1, false, true);

  /** The same with many reservations. */
  public static final RunSize SCARCE_CLOSING = new RunSize(6, 8, 120, 10, true, true);

  /** Redundancy groups, in a busy world. */
  public static final RunSize GROUPED =
      new RunSize(6, 8, 120, 4, false, false, true, false, false, false);

  /** A long run of the same with infrequent full comparisons. */
  public static final RunSize LONG_GROUPED =
      new RunSize(6, 8, 5_000, 50, false, true, true, false, false, false);

  /** Jobs with batches, of which nodes are closed. */
  public static final RunSize BATCHED =
      new RunSize(6, 8, 60, 1, false, true, false, true, false, false);

  /** Jobs with batches, over redundancy groups. */
  public static final RunSize BATCHED_GROUPS =
      new RunSize(6, 8, 120, 4, false, false, true, true, false, false);

  /** Tasks that are done and have to be verified, and nodes that are closed. */
  public static final RunSize VERIFIED =
      new RunSize(6, 8, 60, 1, false, true, false, false, true, false);

  /** Tasks that wait for stages of roll-outs, nodes that are closed, and verifications. */
  public static final RunSize STAGED =
      new RunSize(6, 8, 60, 1, false, true, false, false, true, true);

  /** Enough jobs for more than one word of bits. */
  public static final RunSize MANY_JOBS = new RunSize(90, 5, 25);

  /** Rows with summaries. */
  public static final RunSize WIDE = new RunSize(4, 150, 25);
}
