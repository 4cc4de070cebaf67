package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.store.Brake;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Notifications in the loop (docs/adr/0078-notifications.md). */
class NotificationsTest {
  private final LoopWorld world = new LoopWorld();

  private void configure(String notifications) {
    configure(notifications, "");
  }

  private void configure(String notifications, String more) {
    world.configure(
        """
        {"bistro_settings": {"nodes": {"levels": ["host"],
           "node_sources": [{"source": "manual", "prefs": {"h1": []}}]},
           "queues": {"q": {}}, "resources": {}, "notifications": {%s}},
         "bistro_job->j": {"owner": "ann", "queue": "q", "set": "s", "command": ["x"],
           "backoff": ["fail"]}%s}
        """
            .formatted(notifications, more));
  }

  private static String webhook(String name, String when) {
    return """
    "%s": {"webhook": {"url": "https://hooks.example/x", "secret_file": "key"}, "when": {%s}}
    """
        .formatted(name, when);
  }

  private void brake(int millionths) {
    world.run(new Command.SetBrake(Brake.of(Brake.Key.all(), millionths).author("ann").build(), 0));
    world.settle();
  }

  /** Lets the loop work for a time, so that every pause in it is kept. */
  private void pass(long millis) {
    for (long left = millis; left > 0; left -= 250) {
      world.advance(250);
      world.settle();
    }
  }

  private List<String> summaries() {
    return world.sent.stream().map(Notification::summary).toList();
  }

  private Map<String, String> errors() {
    return Objects.requireNonNull(world.view).errors();
  }

  private NotifierView view(String name) {
    return world.loop.stats().notifiers().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_notification_is_durable_with_its_event_and_deleted_when_its_receiver_has_it() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    List<CompletableFuture<String>> answers = new ArrayList<>();
    world.receiver =
        notification -> {
          assertThat(world.notifications).containsKey(notification.key());
          answers.add(new CompletableFuture<>());
          return answers.get(0);
        };
    brake(0);
    assertThat(summaries()).containsExactly("brake on all: 0 of its limits is left, by ann");
    assertThat(world.notifications).hasSize(1);
    assertThat(world.events.stream().map(event -> event.sequence()))
        .contains(world.sent.get(0).sequence());
    answers.get(0).complete("");
    world.settle();
    assertThat(world.notifications).isEmpty();
    assertThat(view("ops").sent()).isEqualTo(1);
    assertThat(view("ops").state()).isEqualTo("idle");
  }

  @Test
  void what_a_crash_keeps_from_its_receiver_is_sent_again_with_the_same_id_in_order() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.receiver = notification -> new CompletableFuture<>();
    brake(0);
    brake(500_000);
    brake(250_000);
    assertThat(world.notifications).hasSize(3);
    String first = world.sent.get(0).id();
    world.crashAndRestart();
    world.sent.clear();
    world.receiver = notification -> CompletableFuture.completedFuture("");
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.settle();
    assertThat(summaries())
        .containsExactly(
            "brake on all: 0 of its limits is left, by ann",
            "brake on all: 0.5 of its limits is left, by ann",
            "brake on all: 0.25 of its limits is left, by ann");
    assertThat(world.sent.get(0).id()).isEqualTo(first);
    assertThat(world.notifications).isEmpty();
  }

  @Test
  void a_receiver_that_is_down_for_an_hour_gets_all_in_order_and_is_asked_rarely() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.receiver = notification -> CompletableFuture.completedFuture("cannot connect");
    List<String> expected = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      brake(i * 10_000);
      expected.add(world.notifications.values().stream().reduce((a, b) -> b).orElseThrow().id());
      pass(180_000);
    }
    NotifierView failing = view("ops");
    assertThat(failing.state()).isEqualTo("failing");
    assertThat(failing.waiting()).isEqualTo(20);
    assertThat(failing.lastError()).isEqualTo("cannot connect");
    // Once a minute at the longest, half of that with all of the jitter.
    assertThat(world.sent.size()).isBetween(60, 130);
    world.sent.clear();
    world.receiver = notification -> CompletableFuture.completedFuture("");
    pass(61_000);
    assertThat(world.sent.stream().map(Notification::id)).containsExactlyElementsOf(expected);
    assertThat(world.notifications).isEmpty();
    assertThat(view("ops").failingSinceMillis()).isZero();
  }

  @Test
  void a_receiver_that_fails_for_minutes_is_a_problem_until_it_answers() {
    configure(
        webhook("ops", "\"kinds\": [\"brake_set\"]")
            + ","
            + webhook("works", "\"kinds\": [\"problem_raised\", \"problem_cleared\"]"));
    world.receiver =
        notification ->
            CompletableFuture.completedFuture(
                notification.notifier().equals("ops") ? "cannot connect" : "");
    world.sent.clear();
    brake(0);
    brake(500_000);
    String since = Instant.ofEpochMilli(view("ops").failingSinceMillis()).toString();
    pass(240_000);
    assertThat(errors()).doesNotContainKey("receivers");
    pass(150_000);
    assertThat(errors())
        .containsEntry(
            "receivers",
            "ops has taken nothing since " + since + " (cannot connect), 2 notifications wait");
    assertThat(summaries())
        .contains(
            "receivers: ops has taken nothing since "
                + since
                + " (cannot connect), 2 notifications wait");
    world.receiver = notification -> CompletableFuture.completedFuture("");
    pass(80_000);
    assertThat(errors()).doesNotContainKey("receivers");
    assertThat(summaries()).contains("receivers: the problem is over");
  }

  @Test
  void a_receiver_that_hangs_holds_nothing_up() {
    configure(
        webhook("hangs", "\"kinds\": [\"brake_set\"]")
            + ","
            + webhook("works", "\"kinds\": [\"brake_set\"]"));
    world.receiver =
        notification ->
            notification.notifier().equals("hangs")
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture("");
    brake(0);
    brake(500_000);
    assertThat(world.sent.stream().filter(each -> each.notifier().equals("works"))).hasSize(2);
    assertThat(world.sent.stream().filter(each -> each.notifier().equals("hangs"))).hasSize(1);
    assertThat(view("hangs").waiting()).isEqualTo(2);
  }

  @Test
  void one_that_is_always_refused_lets_other_subjects_pass_but_not_its_own() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\", \"brake_released\", \"job_state\"]"));
    world.sent.clear();
    world.receiver =
        notification ->
            CompletableFuture.completedFuture(
                notification.kind().equals("brake_set") ? "answered with status 400" : "");
    brake(0);
    world.run(new Command.ReleaseBrake(Brake.Key.all(), null, "", ""));
    world.run(new Command.Pause("j", 0, "", ""));
    pass(120_000);
    assertThat(world.sent.stream().map(Notification::kind).toList())
        .contains("job_state")
        .doesNotContain("brake_released");
  }

  @Test
  void filters_choose_by_job_set_queue_owner_kind_and_severity() {
    configure(
        String.join(
            ",",
            webhook("owner", "\"owners\": [\"ann\"], \"kinds\": [\"job_state\"]"),
            webhook("other", "\"owners\": [\"bob\"]"),
            webhook("queue", "\"queues\": [\"q\"], \"kinds\": [\"job_state\"]"),
            webhook("set", "\"sets\": [\"s\"], \"kinds\": [\"job_state\"]"),
            webhook("job", "\"jobs\": [\"j\"], \"severity\": \"error\"")));
    world.sent.clear();
    world.writes("j", "h1", "failed");
    pass(1_000);
    assertThat(
            world.sent.stream()
                .filter(each -> each.summary().startsWith("job j is failed"))
                .map(Notification::notifier))
        .containsExactlyInAnyOrder("owner", "queue", "set", "job");
    assertThat(world.sent.stream().filter(each -> each.notifier().equals("job"))).hasSize(1);
    assertThat(world.sent.get(0).about())
        .isEqualTo(
            Json.object()
                .put("job", "j")
                .put("queue", "q")
                .put("set", "s")
                .put("owner", "ann")
                .build());
  }

  @Test
  void many_lost_workers_are_one_notification_with_their_number() {
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.HEALTHY)));
    configure(webhook("ops", "\"kinds\": [\"worker_changed\"]"));
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.LOST)));
    world.settle();
    assertThat(world.sent).isEmpty();
    pass(6_000);
    assertThat(world.sent).hasSize(1);
    assertThat(world.sent.get(0).count()).isEqualTo(300);
    assertThat(world.sent.get(0).summary()).startsWith("300 workers are lost, the latest: worker ");
  }

  private static List<WorkerInfo> workers(WorkerInfo.State state) {
    return IntStream.range(0, 300)
        .mapToObj(
            i ->
                WorkerInfo.of(new WorkerRef("w" + i, i + 1), "h" + i)
                    .address("h:1")
                    .state(state)
                    .build())
        .toList();
  }

  @Test
  void the_outbox_is_bounded_and_what_is_too_much_is_merged_at_its_end() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.receiver = notification -> CompletableFuture.completedFuture("cannot connect");
    for (int i = 1; i <= 1_100; i++) {
      brake(i);
    }
    assertThat(world.notifications).hasSize(1_001);
    assertThat(view("ops").merged()).isEqualTo(99);
    world.sent.clear();
    world.receiver = notification -> CompletableFuture.completedFuture("");
    pass(61_000);
    assertThat(world.sent).hasSize(1_001);
    assertThat(world.sent.get(1_000).count()).isEqualTo(100);
    assertThat(summaries().get(1_000))
        .isEqualTo(
            "100 more notifications, merged into one; the latest: brake on all: 0.0011 of its"
                + " limits is left, by ann");
    Set<String> ids = new HashSet<>();
    world.sent.forEach(each -> ids.add(each.id()));
    assertThat(ids).hasSize(1_001);
  }

  @Test
  void one_that_is_always_refused_does_not_keep_back_the_merged_one() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\", \"job_state\"]"));
    world.sent.clear();
    world.receiver = notification -> CompletableFuture.completedFuture("cannot connect");
    world.done(new Command.Pause("j", 0, "", ""));
    for (int i = 1; i <= 1_010; i++) {
      brake(i);
    }
    world.sent.clear();
    world.receiver =
        notification ->
            CompletableFuture.completedFuture(
                notification.kind().equals("job_state") ? "answered with status 400" : "");
    pass(600_000);
    assertThat(summaries()).anyMatch(each -> each.contains("merged into one"));
    assertThat(world.notifications.values())
        .extracting(Notification::kind)
        .containsExactly("job_state");
  }

  @Test
  void what_the_leader_before_may_have_sent_is_not_merged_with_later_events() {
    String config = webhook("ops", "\"kinds\": [\"worker_changed\"]");
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.HEALTHY)));
    configure(config);
    world.receiver = notification -> new CompletableFuture<>();
    loseWorkers();
    pass(6_000);
    loseWorkers();
    assertThat(world.notifications).hasSize(2);
    world.crashAndRestart();
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.HEALTHY)));
    configure(config);
    loseWorkers();
    assertThat(world.notifications).hasSize(3);
  }

  private void loseWorkers() {
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.HEALTHY)));
    world.settle();
    world.post(new LoopInput.Workers(workers(WorkerInfo.State.LOST)));
    world.settle();
  }

  @Test
  void problems_are_told_when_they_last_and_when_they_are_over() {
    configure(webhook("ops", "\"kinds\": [\"problem_raised\", \"problem_cleared\"]"));
    world.post(new LoopInput.SourceError("nodes", "the source is away"));
    pass(5_000);
    world.post(new LoopInput.SourceError("nodes", null));
    pass(20_000);
    assertThat(world.sent).as("it was short").isEmpty();
    world.post(new LoopInput.SourceError("nodes", "the source is away"));
    pass(15_000);
    assertThat(summaries()).containsExactly("nodes: the source is away");
    world.post(new LoopInput.SourceError("nodes", null));
    pass(15_000);
    assertThat(summaries())
        .containsExactly("nodes: the source is away", "nodes: the problem is over");
    assertThat(world.sent.get(0).subject()).isEqualTo(world.sent.get(1).subject());
  }

  @Test
  void trouble_of_the_store_is_told_while_the_store_is_away_and_nothing_else_is() {
    configure(webhook("ops", "\"kinds\": [\"problem_raised\", \"brake_set\"]"));
    world.storeAnswers = false;
    world.post(new LoopInput.SourceError(SchedulerView.STORE, "the disk is full"));
    brake(0);
    pass(15_000);
    assertThat(summaries())
        .containsExactly(
            "status store: the disk is full",
            "durability: the latest results are not durable yet, and are shown only once they are");
    world.storeAnswers();

    pass(2_000);
    assertThat(world.sent.stream().map(Notification::kind))
        .containsExactly("problem_raised", "problem_raised", "brake_set");
    assertThat(world.notifications).isEmpty();
  }

  @Test
  void a_leader_tells_once_that_it_leads() {
    configure(webhook("ops", ""));
    configure(webhook("ops", ""), "");
    assertThat(summaries().stream().filter(each -> each.contains("leads now")))
        .containsExactly("scheduler here leads now, in epoch 1");
  }

  @Test
  void a_notifier_that_is_gone_leaves_nothing_behind() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.receiver = notification -> new CompletableFuture<>();
    brake(0);
    assertThat(world.notifications).hasSize(1);
    configure("");
    assertThat(world.notifications).isEmpty();
    assertThat(world.loop.stats().notifiers()).isEmpty();
  }

  @Test
  void a_test_is_sent_at_once_and_answered_with_how_it_went() {
    configure(webhook("ops", "\"kinds\": [\"brake_set\"]"));
    world.receiver = notification -> CompletableFuture.completedFuture("answered with status 500");
    assertThat(world.run(new Command.TestNotifier("ops", "ann", "")).toCompletableFuture())
        .isNotNull();
    world.settle();
    assertThat(summaries()).containsExactly("this is a test of the notifier ops, sent by ann");
    assertThat(world.notifications).isEmpty();
    var unknown = world.run(new Command.TestNotifier("opps", "", ""));
    world.settle();
    assertThatThrownBy(() -> unknown.toCompletableFuture().join())
        .hasMessageContaining("there is no notifier \"opps\"");
  }
}
