package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntBiFunction;

/**
 * What the brute-force models of reservations share: who holds what, and which jobs others can
 * starve (docs/adr/0035-reservations.md).
 *
 * @param <P> what can be reserved
 * @param <R> a reservation of the core
 */
abstract class OracleHolders<P, R> {
  /** The interval at which the core checks reservations, and jobs that could not get one. */
  static final long RECHECK_MILLIS = 1_000;

  final Oracle oracle;

  /** The names of the jobs with a reservation. */
  final Map<P, String> holders = new HashMap<>();

  OracleHolders(Oracle oracle) {
    this.oracle = oracle;
  }

  abstract P place(R reservation);

  abstract String job(R reservation);

  /** A round begins: this ends the reservations of jobs that wait for other jobs. */
  public final void beginRound() {
    holders.values().removeIf(oracle.steps()::waitsForJobs);
  }

  /** Checks that no reservation is added within a round. */
  public final void duringRound(List<R> all) {
    assertThat(holders).containsAllEntriesOf(byPlace(all));
    replace(all);
  }

  private Map<P, String> byPlace(List<R> all) {
    Map<P, String> byPlace = new HashMap<>();
    all.forEach(kept -> byPlace.put(place(kept), job(kept)));
    assertThat(byPlace).hasSameSizeAs(all);
    return byPlace;
  }

  final void replace(List<R> all) {
    holders.clear();
    holders.putAll(byPlace(all));
  }

  /**
   * Returns whether other jobs can starve the job: for two resources, which may be the same, some
   * other job takes the first and needs less of the second, and the reverse.
   */
  static boolean isStarved(
      Job job,
      Collection<Job> others,
      List<Resource> resources,
      ToIntBiFunction<Job, Resource> need) {
    for (Resource a : resources) {
      for (Resource b : resources) {
        if (need.applyAsInt(job, a) > 0
            && isTakenWithLess(job, others, a, b, need)
            && isTakenWithLess(job, others, b, a, need)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isTakenWithLess(
      Job job,
      Collection<Job> others,
      Resource taken,
      Resource less,
      ToIntBiFunction<Job, Resource> need) {
    return others.stream()
        .anyMatch(
            other ->
                need.applyAsInt(other, taken) > 0
                    && need.applyAsInt(other, less) < need.applyAsInt(job, less));
  }
}
