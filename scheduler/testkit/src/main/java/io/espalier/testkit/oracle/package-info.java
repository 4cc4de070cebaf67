/**
 * A second implementation of the scheduling core, which the random tests compare the core with.
 *
 * <p>The core is fast because it stores what it would have to compute again: counters of slots,
 * rows of bits, queues of times, reservations, shares of queues. Each of these can be wrong after
 * some event. The oracle stores only the facts, which are the configuration, the tree, statuses and
 * running tasks, and answers each question by a scan over all of them, by name. It is slow, so it
 * is used on small trees; it is short enough to be compared with {@code docs/design/bistro.md}
 * sentence by sentence. Where both agree over many random events, the stored values are right.
 *
 * <p>{@link io.espalier.testkit.oracle.Oracle} has the facts and the conditions for a start. One
 * class each answers for a part of the conditions: {@code OracleTree} for paths and filters, {@code
 * OracleSlots} and {@code OracleLimits} for limits, {@code OracleRates} for start rates, {@code
 * OracleGroups} for redundancy groups, {@code OracleSteps} for steps and dependencies, {@code
 * OraclePool} for workers, {@code OracleQueues} for shares of queues.
 *
 * <p>The core may decide some things in more than one way: which job gets a reservation, and when
 * exactly a sliced operation takes effect. There the oracle does not predict. It observes what the
 * core has decided and checks that the decision was allowed ({@code OracleReservations}, {@code
 * OracleCapacity}, {@code OracleOverLimits}).
 *
 * <p>The oracle shares the types of the configuration, the tree and the reports with the core, and
 * the evaluation of filters, but nothing that the core stores or searches. The classes are for one
 * thread.
 */
@NullMarked
package io.espalier.testkit.oracle;

import org.jspecify.annotations.NullMarked;
