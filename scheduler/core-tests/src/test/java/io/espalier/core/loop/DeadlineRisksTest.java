package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.watch.DeadlineRisks;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.JobVerifications;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Jobs that may miss their {@code complete_by} (docs/notifications.md#deadlines-at-risk). */
class DeadlineRisksTest {
  private final LoopWorld world = new LoopWorld();

  private void configure(int slots, String options) {
    world.configure(
        """
        {"bistro_settings": {"nodes": {"levels": ["host"], "node_order": "original",
           "node_sources": [{"source": "range_label",
             "prefs": {"parent_level": "instance", "start": 1, "end": 12, "format": "h{i}"}}]},
           "resources": {"instance": {"slots": {"default": 1, "limit": %d}}},
           "notifications": {"ops": {"webhook": {"url": "https://hooks.example/x",
             "secret_file": "key"}, "when": {"kinds": ["deadline_at_risk", "deadline_safe"]}}}},
         "bistro_job->j": {"owner": "o", "command": ["x"]%s}}
        """
            .formatted(slots, options));
  }

  /** The job is to be complete so many seconds after the instant at which the test begins. */
  private static String completeBy(int seconds) {
    return ", \"complete_by\": " + (1_000 + seconds);
  }

  /** Each task that runs takes ten seconds. */
  private void tenSeconds() {
    world.advance(10_000);
    List<String> nodes = world.running.keySet().stream().map(task -> task.node()).toList();
    nodes.forEach(node -> world.writes("j", node, "done"));
  }

  private List<String> told() {
    return world.sent.stream().map(each -> each.summary()).toList();
  }

  private List<Event> events(String kind) {
    return world.events.stream().filter(event -> event.kind().equals(kind)).toList();
  }

  @Test
  void aRiskIsToldOnceAndThatItIsOverOnce() {
    configure(1, completeBy(110));
    tenSeconds();
    tenSeconds();
    assertThat(events("deadline_at_risk"))
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.data().get("job")).isEqualTo(Json.of("j"));
              assertThat(event.data().get("deadline_at_ms")).isEqualTo(Json.of(1_110_000L));
              assertThat(event.data().get("p90_at_ms")).isInstanceOf(Json.Num.class);
            });
    assertThat(told())
        .singleElement()
        .satisfies(
            line ->
                assertThat(line)
                    .startsWith(
                        "the deadline of job j is at risk: it is to be complete by"
                            + " 1970-01-01T00:18:30Z, and with a chance of one in ten it ends after"
                            + " 1970-01-01T00:"));
    tenSeconds();
    world.advance(5_000);
    assertThat(told()).hasSize(1);
    configure(12, completeBy(110));
    world.advance(5_000);
    world.advance(5_000);
    assertThat(told()).hasSize(2).last().isEqualTo("the deadline of job j is at risk no more");
    world.advance(10_000);
    assertThat(told()).hasSize(2);
  }

  @Test
  void theLoopNeverSleepsLongerThanUntilTheNextEstimate() {
    configure(1, completeBy(1_000));
    for (int second = 0; second < 30; second++) {
      world.now += 1_000;
      for (int step = 0; step < 20; step++) {
        assertThat(world.step()).isLessThanOrEqualTo(Duration.ofSeconds(5));
      }
    }
  }

  @Test
  void tasksThatCannotEndAsThingsAreAreARiskUntilTheJobHasSucceeded() {
    configure(12, completeBy(100) + ", \"resources\": {\"slots\": 13}");
    world.advance(5_000);
    assertThat(told())
        .containsExactly(
            "the deadline of job j is at risk: it is to be complete by 1970-01-01T00:18:20Z, and 12"
                + " of its tasks do not end as things are");
    assertThat(events("deadline_at_risk").get(0).data().get("never")).isEqualTo(Json.of(12));
    configure(12, completeBy(100));
    tenSeconds();
    world.advance(5_000);
    assertThat(told())
        .hasSize(2)
        .last()
        .isEqualTo("the deadline of job j is at risk no more: the job has succeeded");
  }

  @Test
  void aDeadlineThatIsFarOrTakenAwayIsNoRisk() {
    configure(1, completeBy(1_000));
    tenSeconds();
    world.advance(10_000);
    assertThat(told()).isEmpty();
    configure(1, completeBy(60));
    world.advance(5_000);
    assertThat(told()).hasSize(1);
    configure(1, "");
    assertThat(told())
        .hasSize(2)
        .last()
        .isEqualTo("the deadline of job j is at risk no more: it has none any more");
  }

  @Test
  void anEstimateThatFailsIsLoggedOnceAndTriedAgain() {
    configure(1, completeBy(1_000));
    LoopEvents events = new LoopEvents(1);
    JobStateTracker outcomes =
        new JobStateTracker(world.core, events, new JobVerifications(world.core, new LiveTasks()));
    List<String> logged = new ArrayList<>();
    Deque<CompletableFuture<JobEta>> asked = new ArrayDeque<>();
    DeadlineRisks risks =
        new DeadlineRisks(
            world.core,
            events,
            outcomes,
            (message, job, node) -> logged.add(job + ": " + message),
            job -> {
              asked.add(new CompletableFuture<>());
              return asked.getLast();
            });
    risks.configured(world.now);
    for (int estimate = 1; estimate <= 3; estimate++) {
      world.now = Math.max(world.now, risks.nextMillis());
      risks.step(world.now);
      assertThat(asked).as("no second estimate at the same time").hasSize(estimate);
      asked.getLast().completeExceptionally(new IllegalStateException("a bug"));
      risks.step(world.now);
      assertThat(risks.nextMillis()).isEqualTo(world.now + 5_000);
    }
    assertThat(logged)
        .containsExactly(
            "j: whether its deadline is at risk is unknown, estimating its end has failed:"
                + " java.lang.IllegalStateException: a bug");
  }
}
