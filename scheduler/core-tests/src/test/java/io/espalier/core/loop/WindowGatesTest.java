package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.WindowView;
import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobState;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Windows and freezes, while all goes on (docs/adr/0070-windows.md). */
class WindowGatesTest {
  private final LoopWorld world = new LoopWorld();

  private static String config(String settings, String queue, String job) {
    return """
        {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
           "node_sources": [{"source": "manual", "prefs": {"h1": ["a", "b"]}}]},
           "queues": {"q": {%s}}%s,
           "resources": {"host": {"slots": {"default": 1, "limit": 1}}}},
         "bistro_job->j": {"owner": "o", "queue": "q", "backoff": [1, "fail"], "command": ["x"]%s},
         "bistro_job->free": {"owner": "o", "resources": {"slots": 0}, "command": ["x"]}}
        """
        .formatted(queue, settings, job);
  }

  private void at(String instant) {
    world.now = Instant.parse(instant).toEpochMilli();
  }

  private void until(String instant) {
    world.advance(Instant.parse(instant).toEpochMilli() - world.now);
  }

  private long running(String job) {
    return world.running.keySet().stream().filter(task -> task.job().equals(job)).count();
  }

  private String reason(String job, String node) {
    List<Explanation.Reason> reasons =
        world.core.tasks().explain(job, node).reasons().stream()
            .filter(reason -> reason.kind() == Explanation.Kind.WINDOW)
            .toList();
    return reasons.isEmpty() ? "" : reasons.get(0).message();
  }

  private WindowView view(int i) {
    world.advance(200);
    return Objects.requireNonNull(world.view).windows().get(i);
  }

  private List<String> events() {
    return world.events.stream()
        .filter(event -> event.kind().startsWith("window_"))
        .map(Event::kind)
        .toList();
  }

  @Test
  void aJobStartsWhenItsWindowOpensAndNotWhenItIsOver() {
    at("2026-11-23T17:48:00Z");
    world.configure(config("", "", ", \"windows\": [\"Mon-Fri 22:00-05:00 Europe/Berlin\"]"));
    assertThat(running("j")).isZero();
    assertThat(running("free")).isEqualTo(2);
    assertThat(reason("j", "a")).isEqualTo("window of job j opens Mon 22:00 CET (in 3 h 12 min)");
    assertThat(world.loop.isQuiet()).isFalse();
    assertThat(view(0).open()).isFalse();
    assertThat(view(0).message()).isEqualTo("window of job j opens Mon 22:00 CET");
    until("2026-11-23T20:59:59.999Z");
    assertThat(running("j")).isZero();
    until("2026-11-23T21:00:00Z");
    assertThat(running("j")).isEqualTo(1);
    assertThat(view(0).open()).isTrue();
    assertThat(view(0).message()).isEqualTo("job j may start tasks until Tue 05:00 CET");
    until("2026-11-24T04:00:00Z");
    assertThat(world.kills).isEmpty();
    world.writes("j", "a", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
    assertThat(events()).containsExactly("window_closed", "window_opened", "window_closed");
    assertThat(Objects.requireNonNull(world.loop.standings().get("j")).state())
        .isNotEqualTo(JobState.STUCK);
    world.core.verify();
  }

  @Test
  void settingsQueueAndJobMustAllBeOpen() {
    at("2026-11-24T09:00:00Z");
    world.configure(
        config(
            ", \"windows\": [\"08:00-18:00 UTC\"]",
            "\"windows\": [\"10:00-20:00 UTC\"]",
            ", \"windows\": [\"11:00-12:00 UTC\"]"));
    assertThat(running("free")).isEqualTo(2);
    assertThat(reason("j", "a")).startsWith("window of queue q opens Tue 11:00 UTC (in 2 h ");
    until("2026-11-24T10:00:00Z");
    assertThat(reason("j", "a")).startsWith("window of job j opens Tue 11:00 UTC (in 1 h ");
    until("2026-11-24T11:00:00Z");
    assertThat(running("j")).isEqualTo(1);
    until("2026-11-24T18:00:00Z");
    assertThat(reason("free", "a")).startsWith("window of the settings opens Wed 08:00 UTC");
    assertThat(reason("j", "b")).startsWith("window of the settings opens Wed 11:00 UTC");
  }

  @Test
  void aFreezeIsSaidWithItsReasonAndAnotherConfigurationCountsAtOnce() {
    at("2026-12-18T10:00:00Z");
    String freeze =
        ", \"freezes\": [{\"from\": \"2026-12-18\", \"to\": \"2027-01-04\", \"zone\": \"UTC\","
            + " \"reason\": \"year end\"}]";
    world.configure(config(freeze, "", ""));
    assertThat(world.running).isEmpty();
    assertThat(reason("free", "a"))
        .isEqualTo(
            "freeze of the settings until 2027-01-04 (year end); opens Tue 2027-01-05 00:00 UTC"
                + " (in 17 d 14 h)");
    world.configure(config("", "", ""));
    assertThat(running("free")).isEqualTo(2);
    world.configure(config("", "", ", \"windows\": [\"Sat UTC\"]"));
    world.writes("j", "a", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
  }

  @Test
  void aReservationEndsWithTheWindow() {
    at("2026-11-23T08:00:00Z");
    world.configure(
        """
        {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
           "node_sources": [{"source": "manual", "prefs": {"h1": ["a", "b", "c"]}}]},
           "resources": {"host": {"slots": {"default": 1, "limit": 3}}}},
         "bistro_job->heavy": {"owner": "o", "resources": {"slots": 3}, "command": ["x"],
           "windows": ["08:00-09:00 UTC"], "reserve_after_sec": 60},
         "bistro_job->a": {"owner": "o", "command": ["x"]}}
        """);
    assertThat(running("a")).isEqualTo(3);
    until("2026-11-23T08:59:00Z");
    assertThat(world.core.capacity().reservedNodes()).isEqualTo(1);
    until("2026-11-23T09:00:01Z");
    assertThat(world.core.capacity().reservedNodes()).isZero();
  }

  @Test
  void aClosedJobIsClosedAfterARestart() {
    at("2026-11-23T10:00:00Z");
    String config = config("", "", ", \"windows\": [\"22:00-23:00 UTC\"]");
    world.configure(config);
    world.crashAndRestart();
    world.configure(config);
    assertThat(running("j")).isZero();
    until("2026-11-23T22:00:00Z");
    assertThat(running("j")).isEqualTo(1);
  }
}
