package io.espalier.core.protocol;

import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All times of the protocol, in milliseconds. The scheduler sends them to its workers with every
 * response, so they are set and validated in one place. On the axis of time since the last answered
 * heartbeat was sent (defaults in seconds):
 *
 * <pre>
 *   0      15      30      45      55         65      70     75            90
 *   sent   |       |       |       TERM       KILL    guard  lease ends    lost: dead for certain
 *          heartbeats              stop-begins               margin ------&gt;
 * </pre>
 *
 * @param heartbeatMillis interval between two heartbeats
 * @param callMillis timeout after which a call counts as failed with unknown outcome
 * @param leaseMillis time, counted from when a worker sent the last heartbeat that was answered,
 *     after which its tasks are dead
 * @param stopMillis how long before the end of its lease a worker begins to stop its tasks
 * @param killWaitMillis time between TERM and KILL in that case
 * @param guardMillis how long before the end of the lease the guard kills the remaining tasks
 * @param marginMillis how much longer than the lease the scheduler waits
 * @param unhealthyMillis silence after which a worker gets no new tasks
 * @param healthCheckMillis interval between two health checks
 * @param healthCheckTimeoutMillis timeout after which a health check has failed
 * @param askFirstMillis first pause before the scheduler asks about a call with unknown outcome; it
 *     doubles each time
 * @param askMaxMillis longest such pause
 * @param reportFirstMillis first pause before an unsettled end is sent again; it doubles each time
 * @param reportMaxMillis longest such pause
 * @param takeoverMillis how long a new leader waits before it declares dead an invocation that no
 *     worker has confirmed; at least {@link #lostMillis}, see {@link #outwaiting}
 */
public record ProtocolTimers(
    long heartbeatMillis,
    long callMillis,
    long leaseMillis,
    long stopMillis,
    long killWaitMillis,
    long guardMillis,
    long marginMillis,
    long unhealthyMillis,
    long healthCheckMillis,
    long healthCheckTimeoutMillis,
    long askFirstMillis,
    long askMaxMillis,
    long reportFirstMillis,
    long reportMaxMillis,
    long takeoverMillis) {

  /** The assumed maximum deviation of clocks from true time, in thousandths. */
  public static final long DRIFT_PERMILLE = 10;

  private static final long LEAST_MARGIN_MILLIS = 200;

  /** The default: a worker is lost after 90 s of silence. */
  public static final ProtocolTimers BALANCED =
      new ProtocolTimers(
          15_000, 5_000, 75_000, 20_000, 10_000, 5_000, 15_000, 40_000, 60_000, 30_000, 1_000,
          30_000, 1_000, 30_000, 90_000);

  /** For expensive tasks: they survive nine minutes without a scheduler. */
  public static final ProtocolTimers PATIENT =
      new ProtocolTimers(
          15_000, 5_000, 600_000, 60_000, 45_000, 5_000, 60_000, 75_000, 60_000, 60_000, 1_000,
          30_000, 1_000, 30_000, 660_000);

  /** For short tasks on a quiet network: a worker is lost after 20 s of silence. */
  public static final ProtocolTimers QUICK =
      new ProtocolTimers(
          3_000, 2_000, 16_000, 6_000, 2_000, 2_000, 4_000, 8_000, 15_000, 10_000, 500, 5_000, 500,
          5_000, 20_000);

  /** The presets by the values of {@code --protocol-timers}. */
  public static Map<String, ProtocolTimers> presets() {
    Map<String, ProtocolTimers> presets = new LinkedHashMap<>();
    presets.put("balanced", BALANCED);
    presets.put("patient", PATIENT);
    presets.put("quick", QUICK);
    return presets;
  }

  /**
   * The same timers with a take-over that also outwaits the leases of earlier leaderships.
   *
   * @param earlierLeaseMillis longest remaining time of those leases, margin included; 0: none are
   *     known
   */
  public ProtocolTimers outwaiting(long earlierLeaseMillis) {
    if (earlierLeaseMillis <= takeoverMillis) {
      return this;
    }
    Map<String, Long> values = values();
    values.put("takeover", earlierLeaseMillis);
    return of(values);
  }

  /** The silence after which a worker is lost and its tasks are dead. */
  public long lostMillis() {
    return leaseMillis + marginMillis;
  }

  /** The time without a response after which a worker begins to stop its tasks. */
  public long stopAfterMillis() {
    return leaseMillis - stopMillis;
  }

  /** The time without a response after which the guard kills the remaining tasks. */
  public long guardAfterMillis() {
    return leaseMillis - guardMillis;
  }

  /** The time without a good health check after which a worker is unhealthy. */
  public long healthGapMillis() {
    return 2 * healthCheckMillis + healthCheckTimeoutMillis;
  }

  /** The smallest margin for a lease: both clocks drift, and the guard may be late. */
  public static long leastMargin(long leaseMillis) {
    return leaseMillis * 2 * DRIFT_PERMILLE / (1000 - DRIFT_PERMILLE) + LEAST_MARGIN_MILLIS;
  }

  /** All problems of these timers; empty when they are valid. */
  public List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    values()
        .forEach(
            (name, millis) -> {
              if (millis <= 0) {
                problems.add(Problem.error(name, name + " must be more than 0 ms, not " + millis));
              }
            });
    if (!problems.isEmpty()) {
      return problems;
    }
    check(
        problems,
        "call",
        callMillis < heartbeatMillis,
        "a call must end before the next heartbeat: call "
            + callMillis
            + " ms must be less than "
            + "heartbeat "
            + heartbeatMillis
            + " ms");
    check(
        problems,
        "lease",
        2 * heartbeatMillis + callMillis <= leaseMillis - stopMillis,
        "one lost heartbeat must not stop tasks: lease - stop = "
            + (leaseMillis - stopMillis)
            + " ms must be at least 2 * heartbeat + call = "
            + (2 * heartbeatMillis + callMillis)
            + " ms");
    check(
        problems,
        "stop",
        killWaitMillis + guardMillis <= stopMillis,
        "tasks must get their KILL before the guard does it: stop "
            + stopMillis
            + " ms must be at least kill wait + guard = "
            + (killWaitMillis + guardMillis)
            + " ms");
    check(
        problems,
        "margin",
        marginMillis >= leastMargin(leaseMillis),
        "clocks may drift by "
            + DRIFT_PERMILLE
            + " in 1000 on both sides: margin "
            + marginMillis
            + " ms must be at least "
            + leastMargin(leaseMillis)
            + " ms for a lease of "
            + leaseMillis
            + " ms");
    check(
        problems,
        "unhealthy",
        unhealthyMillis >= heartbeatMillis + callMillis,
        "a worker must not be unhealthy between two heartbeats: unhealthy "
            + unhealthyMillis
            + " ms must be at least heartbeat + call = "
            + (heartbeatMillis + callMillis)
            + " ms");
    check(
        problems,
        "unhealthy",
        unhealthyMillis < lostMillis(),
        "unhealthy "
            + unhealthyMillis
            + " ms must be less than lease + margin = "
            + lostMillis()
            + " ms");
    check(
        problems,
        "ask_max",
        askFirstMillis <= askMaxMillis,
        "ask max " + askMaxMillis + " ms must be at least ask first " + askFirstMillis + " ms");
    check(
        problems,
        "report_max",
        reportFirstMillis <= reportMaxMillis,
        "report max "
            + reportMaxMillis
            + " ms must be at least report first "
            + reportFirstMillis
            + " ms");
    check(
        problems,
        "takeover",
        takeoverMillis >= lostMillis(),
        "a new leader must outwait the leases of the one before: takeover "
            + takeoverMillis
            + " ms must be at least lease + margin = "
            + lostMillis()
            + " ms");
    return problems;
  }

  private static void check(List<Problem> problems, String name, boolean holds, String message) {
    if (!holds) {
      problems.add(Problem.error(name, message));
    }
  }

  /** All timers by the names that flags and messages use, for printing at startup. */
  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put("heartbeat", heartbeatMillis);
    values.put("call", callMillis);
    values.put("lease", leaseMillis);
    values.put("stop", stopMillis);
    values.put("kill_wait", killWaitMillis);
    values.put("guard", guardMillis);
    values.put("margin", marginMillis);
    values.put("unhealthy", unhealthyMillis);
    values.put("health_check", healthCheckMillis);
    values.put("health_check_timeout", healthCheckTimeoutMillis);
    values.put("ask_first", askFirstMillis);
    values.put("ask_max", askMaxMillis);
    values.put("report_first", reportFirstMillis);
    values.put("report_max", reportMaxMillis);
    values.put("takeover", takeoverMillis);
    return values;
  }

  /**
   * Creates timers from values by name, the inverse of {@link #values}.
   *
   * @throws IllegalArgumentException when a name is missing
   */
  public static ProtocolTimers of(Map<String, Long> values) {
    return new ProtocolTimers(
        value(values, "heartbeat"),
        value(values, "call"),
        value(values, "lease"),
        value(values, "stop"),
        value(values, "kill_wait"),
        value(values, "guard"),
        value(values, "margin"),
        value(values, "unhealthy"),
        value(values, "health_check"),
        value(values, "health_check_timeout"),
        value(values, "ask_first"),
        value(values, "ask_max"),
        value(values, "report_first"),
        value(values, "report_max"),
        value(values, "takeover"));
  }

  private static long value(Map<String, Long> values, String name) {
    Long value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no value for the timer " + name);
    }
    return value;
  }
}
