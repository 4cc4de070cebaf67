package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.PastTasks;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusRowEvents;
import io.espalier.json.JsonReader;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The events of a random life rebuild what the store holds (docs/design/features.md#events). */
class ReplayTest {
  private static final String BOTH =
      """
      {"bistro_settings": {"enabled": true, "nodes": {"levels": ["host", "db"], "node_sources": [
         {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e", "f"]}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 3}}}},
       "bistro_job->j": {"owner": "o", "enabled": true, "backoff": [1, 2, "fail"], "command": ["x"]},
       "bistro_job->k": {"owner": "o", "enabled": true, "backoff": [1, 2, 4, "repeat"],
         "command": ["x"]}}
      """;

  private static final String ONE = BOTH.substring(0, BOTH.indexOf(",\n \"bistro_job->k\"")) + "}";

  private static final List<String> STATUSES =
      List.of(
          "done",
          "incomplete",
          "incomplete_backoff",
          "failed",
          "error_backoff",
          "error_backoff",
          "nonsense",
          "{\"result\": \"error_backoff\", \"data\": {\"at\": 5, \"\u00e4\": [null, 1.5]}}",
          "{\"result\": \"incomplete\", \"data\": {\"at\": 6}}");

  private final LoopWorld world = new LoopWorld();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void the_events_rebuild_all_rows(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StatusRowEvents.Replay replay = new StatusRowEvents.Replay();
    int applied = 0;
    Map<Long, List<StatusRow>> kept = new HashMap<>();
    world.configure(BOTH);
    for (int step = 0; step < 400; step++) {
      step(random);
      if (world.storeAnswers) {
        for (; applied < world.events.size(); applied++) {
          replay.apply(stored(world.events.get(applied)));
        }
        assertThat(replay.rows()).isEqualTo(world.stored);
        if (step % 40 == 0) {
          kept.put(world.now, List.copyOf(replay.rows().values()));
          // So that no event of the next step has the same time.
          world.advance(1);
        }
      }
    }
    kept.forEach((atMillis, rows) -> assertThat(past(atMillis)).isEqualTo(ofJob(rows)));
    assertThat(kept).hasSizeGreaterThan(4);
    assertThat(world.stored).hasSizeGreaterThan(10);
    assertThat(world.events.stream().map(Event::kind))
        .contains(
            EventKind.TASK_STARTED.word(),
            EventKind.TASK_ENDED.word(),
            EventKind.TASK_CHANGED.word(),
            EventKind.TASK_PROGRESS.word(),
            EventKind.TASKS_RERUN.word(),
            EventKind.TASKS_CANCELLED.word(),
            EventKind.TASKS_FORGIVEN.word());
  }

  /** What can be asked of a scheduler: the tasks of one job at a time. */
  private List<StatusRow> past(long atMillis) {
    PastTasks past =
        PastTasks.of(
            new PastTasks.Question("j", Set.of(), atMillis, 0), this::after, world.events.size());
    assertThat(past.complete()).isTrue();
    return past.rows();
  }

  private List<Event> after(long sequence, int limit) {
    return world.events.stream()
        .filter(event -> event.sequence() > sequence)
        .limit(limit)
        .map(ReplayTest::stored)
        .toList();
  }

  private static List<StatusRow> ofJob(List<StatusRow> rows) {
    return rows.stream()
        .filter(row -> row.job().equals("j"))
        .sorted(Comparator.comparing(StatusRow::node))
        .toList();
  }

  @Test
  void the_past_says_when_its_events_are_gone_or_left_out() {
    world.configure(BOTH);
    long begun = world.now;
    world.advance(1_000);
    world.writes("j", world.launches.get(0).node(), "done");
    world.events.subList(0, 3).clear();
    long first = world.events.get(0).timeMillis();
    PastTasks gone = asked(Set.of(), first - 1, 0);
    assertThat(gone.isGone()).isTrue();
    assertThat(gone.sinceMillis()).isEqualTo(first);
    PastTasks part = asked(Set.of(), world.now, 0);
    assertThat(part.complete()).isFalse();
    assertThat(part.isGone()).isFalse();
    assertThat(part.rows()).isNotEmpty();
    PastTasks late = asked(Set.of(), world.now, begun + 1);
    assertThat(late.complete()).isFalse();
    assertThat(late.sinceMillis()).isGreaterThan(begun);
    assertThat(late.rows()).extracting(StatusRow::node).contains(world.launches.get(0).node());
    assertThat(asked(Set.of("nowhere"), world.now, 0).rows()).isEmpty();
    assertThat(
            PastTasks.of(
                new PastTasks.Question("j", Set.of(), 5, 0), (sequence, limit) -> List.of(), 0))
        .isEqualTo(new PastTasks(List.of(), 0, 0, true));
  }

  private PastTasks asked(Set<String> nodes, long atMillis, long fromMillis) {
    long newest = world.events.get(world.events.size() - 1).sequence();
    return PastTasks.of(
        new PastTasks.Question("j", nodes, atMillis, fromMillis), this::after, newest);
  }

  @Test
  void a_job_that_is_made_again_does_not_inherit_and_its_running_tasks_say_nothing() {
    world.configure(BOTH);
    String node =
        world.launches.stream().filter(l -> l.job().equals("k")).findFirst().orElseThrow().node();
    world.writes("k", node, "done");
    assertThat(world.row("k", node).status().main()).isEqualTo(Main.DONE);
    List<LaunchSpec> before = List.copyOf(world.running.values());
    world.configure(ONE);
    world.configureAnew(BOTH, "k", 77);
    assertThat(world.incarnations).containsEntry("k", 77L);
    assertThat(world.done("k")).isZero();
    // Those that still run are of the old one, whatever they say; that they run is not forgotten.
    for (LaunchSpec launch : before) {
      if (launch.job().equals("k") && world.running.containsValue(launch)) {
        TaskStatus status = world.row("k", launch.node()).status();
        assertThat(status.main()).isEqualTo(Main.RUNNING);
        assertThat(status.attempts()).isEqualTo(1);
        world.writes("k", launch.node(), "done");
        assertThat(world.row("k", launch.node()).status().main()).isNotEqualTo(Main.DONE);
      }
    }
    assertThat(world.done("k")).isZero();
    StatusRowEvents.Replay replay = new StatusRowEvents.Replay();
    world.events.forEach(replay::apply);
    assertThat(replay.rows()).isEqualTo(world.stored);
  }

  /** As it comes back from a store: through text. */
  private static Event stored(Event event) {
    Json data = Objects.requireNonNull(JsonReader.parse(event.data().toString()).value());
    return new Event(event.sequence(), event.timeMillis(), event.kind(), (Json.Obj) data);
  }

  private void step(SplittableRandom random) {
    List<LaunchSpec> running = List.copyOf(world.running.values());
    int what = random.nextInt(100);
    if (what < 50 && !running.isEmpty()) {
      LaunchSpec launch = running.get(random.nextInt(running.size()));
      switch (random.nextInt(8)) {
        case 0 -> world.end(launch.job(), launch.node(), TaskResult.Kind.KILLED, null, null);
        case 1 -> world.end(launch.job(), launch.node(), TaskResult.Kind.NOT_STARTED, null, null);
        default ->
            world.writes(
                launch.job(), launch.node(), STATUSES.get(random.nextInt(STATUSES.size())));
      }
    } else if (what < 65 && !running.isEmpty()) {
      LaunchSpec launch = running.get(random.nextInt(running.size()));
      Json.Obj said = Json.object().put("done", random.nextInt(100)).put("cursor", "c").build();
      world.post(
          new LoopInput.TaskProgressed(
              new TaskKey(launch.job(), launch.node()),
              launch.invocation(),
              () -> ProgressParser.of(said)));
      world.settle();
    } else if (what < 75) {
      if (random.nextBoolean()) {
        world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
      } else if (random.nextBoolean()) {
        String node = String.valueOf((char) ('a' + random.nextInt(6)));
        TaskSelector some = new TaskSelector(Set.of(), "", new HashSet<>(List.of(node, "a")), "");
        String author = random.nextBoolean() ? "ann" : "";
        world.run(new Command.Cancel(new TaskSelection("j", some, false, -1, author, "")));
      } else {
        String prefix = STATUSES.get(random.nextInt(2)).substring(0, 1).replace('i', 'a');
        TaskSelector some = new TaskSelector(Set.of(), prefix, Set.of(), "");
        world.run(new Command.Rerun(new TaskSelection("j", some, false, -1, "", "")));
      }
      world.settle();
    } else if (what < 90) {
      world.advance(random.nextInt(5_000));
    } else if (what < 93) {
      world.storeAnswers = false;
    } else if (what < 96) {
      world.storeAnswers();
    } else if (what < 98) {
      // What is stored is read after all was written.
      world.storeAnswers();
      world.configure(ONE);
      if (random.nextBoolean()) {
        world.configureAnew(BOTH, "k", 1 + random.nextInt(1_000));
      } else {
        world.configure(BOTH);
      }
    } else {
      world.storeAnswers = true;
      world.crashAndRestart();
      world.configure(BOTH);
    }
  }

  @Test
  void a_forgotten_job_leaves_nothing_and_others_stay() {
    world.configure(BOTH);
    StatusRowEvents.Replay replay = new StatusRowEvents.Replay();
    world.events.forEach(replay::apply);
    assertThat(replay.rows()).isNotEmpty();
    replay.apply(
        new Event(
            replay.sequence() + 1,
            1,
            EventKind.JOB_FORGOTTEN.word(),
            Json.object().put("job", "j").build()));
    assertThat(replay.rows().keySet()).allMatch(key -> key.job().equals("k"));
  }

  @Test
  void events_out_of_order_and_damaged_ones_are_refused() {
    StatusRowEvents.Replay replay = new StatusRowEvents.Replay();
    replay.apply(new Event(5, 1, "anything", Json.Obj.EMPTY));
    assertThatThrownBy(() -> replay.apply(new Event(5, 1, "anything", Json.Obj.EMPTY)))
        .hasMessage("event 5 comes after event 5");
    assertThatThrownBy(
            () ->
                replay.apply(
                    new Event(
                        6,
                        1,
                        EventKind.TASK_ENDED.word(),
                        Json.object().put("job", "j").put("row", new Json.Arr(List.of())).build())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("event 6 (task_ended) is damaged");
  }
}
