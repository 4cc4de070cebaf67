package io.espalier.server.ha;

import io.espalier.core.json.Json;
import io.espalier.server.ha.SchedulerProbe.Said;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * A fail-over drill: asks the leader to step down and measures how long no scheduler starts tasks.
 * It kills nothing.
 */
public final class StepDownDrill {
  private static final Duration CONNECT_AT_MOST = Duration.ofSeconds(15);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long START_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LOOK_MILLIS = 50;
  private static final int EVENTS = 1000;

  private StepDownDrill() {}

  /**
   * The result of a drill; times count from the request.
   *
   * @param answersAfterMillis until the new leader answered
   * @param startsAfterMillis until it started its first task; empty when it started none for a
   *     while
   */
  public record Outcome(
      String from,
      String to,
      long fromEpoch,
      long toEpoch,
      long answersAfterMillis,
      OptionalLong startsAfterMillis) {}

  /**
   * Runs the drill.
   *
   * @param access credentials for the schedulers, of an admin
   * @throws IOException with the reason when the drill could not run, or when there is no leader
   *     afterwards
   */
  public static Outcome run(ZooKeeperTarget group, ClientAccess access)
      throws IOException, InterruptedException {
    try (ZooKeeperLink link = ZooKeeperLink.open(group)) {
      link.awaitConnected(CONNECT_AT_MOST);
      return run(group.toString(), () -> LeaderWatch.read(link), access);
    }
  }

  /**
   * Runs the drill in a group that elects by its status store.
   *
   * @param access credentials for the schedulers, of an admin
   * @throws IOException with the reason when the drill could not run, or when there is no leader
   *     afterwards
   */
  public static Outcome run(MySqlAddress store, ClientAccess access)
      throws IOException, InterruptedException {
    try (MySqlOwners owners = MySqlOwners.of(store)) {
      return run(owners.description(), () -> StoreGroup.read(owners), access);
    }
  }

  /** Returns the candidates, the leader first; empty while there is no leader. */
  private interface Candidates {
    List<Candidate> now() throws IOException;
  }

  private static Outcome run(String group, Candidates asked, ClientAccess access)
      throws IOException, InterruptedException {
    List<Candidate> candidates = asked.now();
    if (candidates.isEmpty() || candidates.get(0).http().isEmpty()) {
      throw new IOException("no scheduler at " + group + " leads and serves HTTP");
    }
    SchedulerProbe probe = new SchedulerProbe(access);
    Candidate old = candidates.get(0);
    long oldEpoch = epoch(probe.get(old.http(), "/api/v1/leadership"));
    long began = System.nanoTime();
    Said answer =
        probe.post(
            old.http(),
            "/api/v1/leadership/step-down",
            Json.object().put("reason", "espalier ha-check --drill").build());
    if (answer.status() != 200) {
      throw new IOException(
          "the leader " + old + " refuses to step down: " + answer.body().get("detail"));
    }
    Candidate next = old;
    long nextEpoch = 0;
    while (nextEpoch <= oldEpoch) {
      if (System.nanoTime() - began > PATIENCE_NANOS) {
        throw new IOException("nobody leads a minute after " + old + " stepped down");
      }
      Thread.sleep(LOOK_MILLIS);
      List<Candidate> now = asked.now();
      next = now.isEmpty() ? old : now.get(0);
      nextEpoch = now.isEmpty() ? 0 : epochIfLeads(probe, next);
    }
    long answers = millisSince(began);
    return new Outcome(
        old.http(),
        next.http(),
        oldEpoch,
        nextEpoch,
        answers,
        firstStart(probe, next, nextEpoch, began));
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  private static long epoch(Said said) {
    return said.body().get("epoch") instanceof Json.Num epoch ? epoch.value().longValue() : 0;
  }

  private static long epochIfLeads(SchedulerProbe probe, Candidate candidate)
      throws InterruptedException {
    try {
      Said said = probe.get(candidate.http(), "/api/v1/leadership");
      return said.status() == 200 ? epoch(said) : 0;
    } catch (IOException e) {
      // Between standby and leading, it does not listen for a moment.
      return 0;
    }
  }

  private static OptionalLong firstStart(
      SchedulerProbe probe, Candidate leader, long epoch, long began) throws InterruptedException {
    long waited = System.nanoTime();
    while (System.nanoTime() - waited < START_PATIENCE_NANOS) {
      try {
        Said said = probe.get(leader.http(), "/api/v1/events?limit=" + EVENTS);
        if (said.body().get("events") instanceof Json.Arr events
            && events.items().stream().anyMatch(event -> isStart(event, epoch))) {
          return OptionalLong.of(millisSince(began));
        }
      } catch (IOException e) {
        // Retried until the time is up.
        Thread.sleep(LOOK_MILLIS);
      }
      Thread.sleep(LOOK_MILLIS);
    }
    return OptionalLong.empty();
  }

  private static boolean isStart(Json event, long epoch) {
    return event instanceof Json.Obj object
        && object.get("data") instanceof Json.Obj data
        && data.get("invocation") instanceof Json.Str invocation
        && invocation.value().startsWith(epoch + ".");
  }
}
