package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.WindowView;
import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobState;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskKey;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  private long running(String job) {
    return world.running.keySet().stream().filter(task -> task.job().equals(job)).count();
  }

  /** Ends one of the tasks of the job that run. */
  private void oneIsDone() {
    String node =
        world.running.keySet().stream()
            .filter(task -> task.job().equals("j"))
            .map(TaskKey::node)
            .findFirst()
            .orElseThrow();
    world.writes("j", node, "done");
    world.advance(1_000);
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
    world.at("2026-11-23T17:48:00Z");
    world.configure(config("", "", ", \"windows\": [\"Mon-Fri 22:00-05:00 Europe/Berlin\"]"));
    assertThat(running("j")).isZero();
    assertThat(running("free")).isEqualTo(2);
    assertThat(reason("j", "a")).isEqualTo("window of job j opens Mon 22:00 CET (in 3 h 12 min)");
    assertThat(world.loop.isQuiet()).isFalse();
    assertThat(view(0).open()).isFalse();
    assertThat(view(0).message()).isEqualTo("window of job j opens Mon 22:00 CET");
    world.until("2026-11-23T20:59:59.999Z");
    assertThat(running("j")).isZero();
    world.until("2026-11-23T21:00:00Z");
    assertThat(running("j")).isEqualTo(1);
    assertThat(view(0).open()).isTrue();
    assertThat(view(0).message()).isEqualTo("job j may start tasks until Tue 05:00 CET");
    world.until("2026-11-24T04:00:00Z");
    assertThat(world.kills).isEmpty();
    world.writes("j", "a", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
    assertThat(events()).containsExactly("window_opened", "window_closed");
    assertThat(Objects.requireNonNull(world.loop.jobStates().get("j")).state())
        .isNotEqualTo(JobState.STUCK);
    world.core.verify();
  }

  @Test
  void aWindowThatClosesSaysHowManyTasksAreLeft() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(config("", "", ", \"windows\": [\"Mon-Fri 22:00-05:00 Europe/Berlin\"]"));
    assertThat(left()).as("it was closed before").isEmpty();
    world.until("2026-11-23T21:00:00Z");
    world.writes("j", "a", "done");
    world.settle();
    world.until("2026-11-24T04:00:00Z");
    assertThat(left()).containsExactly("1");
    world.until("2026-11-24T21:00:00Z");
    world.writes("j", "b", "done");
    world.settle();
    world.until("2026-11-25T04:00:00Z");
    assertThat(left()).as("all are done").containsExactly("1");
  }

  private List<String> left() {
    return world.events.stream()
        .filter(event -> event.kind().equals("window_closed"))
        .map(event -> event.data().get("left"))
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .toList();
  }

  /** The commit of a start takes so long that the window closes meanwhile. */
  @Test
  void aStartThatIsDurableTooLateIsTakenBack() {
    world.at("2026-11-24T03:59:59Z");
    world.storeAnswers = false;
    world.configure(config("", "", ", \"windows\": [\"Mon-Fri 22:00-05:00 Europe/Berlin\"]"));
    world.until("2026-11-24T04:30:00Z");
    assertThat(world.launches).isEmpty();
    world.storeAnswers();
    assertThat(running("j")).isZero();
    assertThat(running("free")).isEqualTo(2);
    world.until("2026-11-24T21:00:00Z");
    assertThat(running("j")).isEqualTo(1);
  }

  @Test
  void settingsQueueAndJobMustAllBeOpen() {
    world.at("2026-11-24T09:00:00Z");
    world.configure(
        config(
            ", \"windows\": [\"08:00-18:00 UTC\"]",
            "\"windows\": [\"10:00-20:00 UTC\"]",
            ", \"windows\": [\"11:00-12:00 UTC\"]"));
    assertThat(running("free")).isEqualTo(2);
    assertThat(reason("j", "a")).startsWith("window of queue q opens Tue 11:00 UTC (in 2 h ");
    world.until("2026-11-24T10:00:00Z");
    assertThat(reason("j", "a")).startsWith("window of job j opens Tue 11:00 UTC (in 1 h ");
    world.until("2026-11-24T11:00:00Z");
    assertThat(running("j")).isEqualTo(1);
    world.until("2026-11-24T18:00:00Z");
    world.writes("free", "a", "incomplete");
    assertThat(reason("free", "a")).startsWith("window of the settings opens Wed 08:00 UTC");
    assertThat(reason("j", "b")).startsWith("window of the settings opens Wed 11:00 UTC");
  }

  @Test
  void aFreezeIsSaidWithItsReasonAndAnotherConfigurationCountsAtOnce() {
    world.at("2026-12-18T10:00:00Z");
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
  void aFreezeOfYearsEndsByItself() {
    world.at("2027-01-01T00:00:00Z");
    String freeze =
        ", \"freezes\": [{\"from\": \"2026-12-18\", \"to\": \"2031-12-31\", \"zone\": \"UTC\","
            + " \"reason\": \"moved\"}]";
    world.configure(config(freeze, "", ""));
    for (int year = 2027; year < 2032; year++) {
      for (int month = 1; month <= 12; month++) {
        world.until("%d-%02d-28T12:00:00Z".formatted(year, month));
        assertThat(world.running).isEmpty();
      }
    }
    world.until("2032-01-01T00:00:00Z");
    assertThat(running("free")).isEqualTo(2);
  }

  // ---- what happens at the end

  private static final String NIGHT = ", \"windows\": [\"20:00-22:00 UTC\"]";

  @Test
  void atTheEndOfAWindowRunningTasksGoOn() {
    world.at("2026-11-23T21:00:00Z");
    world.configure(config("", "", NIGHT));
    world.until("2026-11-23T22:00:01Z");
    assertThat(running("j")).isOne();
    assertThat(world.kills).isEmpty();
    assertThat(world.throttles).isEmpty();
  }

  @Test
  void tasksThatAreAskedToPauseGoOnWhenTheWindowOpensAgain() {
    world.at("2026-11-23T21:00:00Z");
    world.configure(config("", "", NIGHT + ", \"at_window_end\": \"ask\""));
    assertThat(running("j")).isOne();
    world.until("2026-11-23T21:59:59.999Z");
    assertThat(world.throttles).isEmpty();
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.throttles).containsExactly("a 0 window ends");
    assertThat(running("free")).isEqualTo(2);
    world.until("2026-11-24T20:00:01Z");
    assertThat(world.throttles).containsExactly("a 0 window ends", "a 1");
    assertThat(world.kills).isEmpty();
  }

  @Test
  void tasksAreKilledAtTheEndOfTheirWindowAndTryAgainInTheNextOne() {
    world.at("2026-11-23T21:00:00Z");
    world.configure(config("", "", NIGHT + ", \"at_window_end\": \"kill\""));
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.kills).hasSize(1).first().asString().startsWith("j/a ");
    world.until("2026-11-23T22:00:10Z");
    assertThat(world.kills).as("one request is enough").hasSize(1);
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(world.attempts.get(0).toString())
        .contains("stopped because its window had ended")
        .contains("WINDOW_ENDED");
    assertThat(running("j")).isZero();
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).as("it is no failure").isOne();
  }

  private static String manyJobs(int jobs, String window) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < jobs; i++) {
      text.append(
          """
          ,
          "bistro_job->n%03d": {"owner": "o", "resources": {"slots": 0}, "command": ["x"],
            "backoff": [1, "fail"], "windows": ["%s"], "at_window_end": "kill"}
          """
              .formatted(i, window));
    }
    String config = config("", "", "").strip();
    return config.substring(0, config.length() - 1) + text + "}";
  }

  @Test
  void whenManyWindowsCloseEachTellsWhatItsJobHasLeftAndAProblemNamesTheFirst() {
    world.at("2026-11-23T21:00:00Z");
    world.configure(manyJobs(25, "20:00-22:00 UTC"));
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.events)
        .filteredOn(event -> event.kind().equals("window_closed"))
        .hasSize(25)
        .allMatch(event -> event.data().toString().contains("\"left\":2"));
    for (TaskKey task : List.copyOf(world.running.keySet())) {
      if (task.job().startsWith("n")) {
        world.end(task.job(), task.node(), TaskResult.Kind.KILLED, null, null);
      }
    }
    world.configure(manyJobs(25, "20:00-20:30 UTC"));
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors().get("windows"))
        .startsWith("tasks take longer than any window of their job is open: n000 (")
        .contains(", n019 (")
        .doesNotContain("n020")
        .endsWith(" and 5 more");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ", \"assume\": \"10m\""})
  void aTaskThatIsKilledAtTheEndOfItsWindowTakesAtLeastAsLong(String assumed) {
    world.at("2026-11-23T21:00:00Z");
    world.configure(config("", "", NIGHT + ", \"at_window_end\": \"kill\"" + assumed));
    assertThat(running("j")).isOne();
    world.until("2026-11-23T22:00:01Z");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).as("an hour is left and more").isOne();
    world.until("2026-11-24T21:30:00Z");
    world.writes("j", "a", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
    assertThat(reason("j", "a"))
        .startsWith("window of job j closes Tue 22:00 UTC, and a task takes up to 57 min");
    world.until("2026-11-25T20:00:00Z");
    assertThat(running("j")).isOne();
  }

  /** One task was killed after it had run for an hour. */
  private String afterAKill() {
    String config = config("", "", NIGHT + ", \"at_window_end\": \"kill\"");
    world.at("2026-11-23T21:00:00Z");
    world.configure(config);
    world.until("2026-11-23T22:00:01Z");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.until("2026-11-24T19:00:00Z");
    return config;
  }

  private void startsNothingInTheLastHour() {
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).isOne();
    world.until("2026-11-24T21:30:00Z");
    world.writes("j", "a", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
    assertThat(reason("j", "a")).contains("a task takes up to 57 min");
  }

  @Test
  void howLongTasksTakeOutlivesACrash() {
    String config = afterAKill();
    world.crashAndRestart();
    world.configure(config);
    startsNothingInTheLastHour();
  }

  @Test
  void howLongTasksTakeOutlivesTheAbsenceOfTheirJob() {
    String config = afterAKill();
    world.configure(config.replace("bistro_job->j", "bistro_job->other"));
    world.configure(config);
    startsNothingInTheLastHour();
  }

  @Test
  void durationsOfADeletedJobAreForgotten() {
    String config = afterAKill();
    assertThat(world.durations).containsOnlyKeys("j");
    world.configureAnew(config, "j", 7);
    assertThat(world.durations).isEmpty();
    world.until("2026-11-24T21:30:00Z");
    assertThat(running("j")).isOne();
  }

  @Test
  void aJobThatIsClosedBecauseTasksTakeTooLongDisturbsNoRunningTask() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(config("", "", NIGHT + ", \"assume\": \"90m\", \"at_window_end\": \"kill\""));
    world.until("2026-11-23T21:59:59Z");
    assertThat(running("j")).isOne();
    assertThat(world.kills).isEmpty();
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.kills).hasSize(1);
  }

  @Test
  void theWindowOfANodeEndsForItsTasksOnly() {
    world.at("2026-11-23T21:00:00Z");
    String nodes =
        ", \"node_windows\": [{\"level\": \"db\", \"tag\": \"night\", \"windows\":"
            + " [\"20:00-22:00 UTC\"]}]";
    world.configure(
        config(nodes + ", \"at_window_end\": \"ask\"", "", "")
            .replace("\"limit\": 1", "\"limit\": 9")
            .replace("[\"a\", \"b\"]", "[\"b\", \"a\"], \"a\": {\"tags\": [\"night\"]}"));
    assertThat(running("j")).isEqualTo(2);
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.throttles).containsExactlyInAnyOrder("a 0 window ends", "a 0 window ends");
  }

  @Test
  void howLongAThrottledTaskTakesSaysNothingAboutTheOthers() {
    world.at("2026-11-23T20:00:00Z");
    String probe =
        ", \"probes\": {\"lag\": {\"level\": \"host\", \"source\": \"push\", \"bad_above\": 5,"
            + " \"good_below\": 2, \"max_age\": \"10d\"}}";
    String windows = ", \"windows\": [\"20:00-22:00 UTC\"], \"assume\": \"1s\"";
    String nodes =
        IntStream.range(0, 30).mapToObj(i -> "\"n" + i + "\"").collect(Collectors.joining(", "));
    world.configure(
        config(probe, "", windows)
            .replace("\"limit\": 1", "\"limit\": 2, \"follows\": [\"lag\"], \"floor\": 1")
            .replace("\"a\", \"b\"", nodes));
    world.done(new Command.PushProbe("lag", "h1", 9, "", ""));
    for (int i = 0; i < 22; i++) {
      world.advance(300_000);
      assertThat(running("j")).as("task " + i).isOne();
      oneIsDone();
    }
    assertThat(reason("j", "n29")).as("nothing is known of them").isEmpty();
  }

  // ---- overrun

  @Test
  void nothingStartsThatWouldStillRunWhenTheWindowCloses() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(config("", "", ", \"windows\": [\"20:00-22:00 UTC\"], \"assume\": \"30m\""));
    assertThat(running("j")).isEqualTo(1);
    world.until("2026-11-23T21:30:00.001Z");
    world.writes("j", "a", "done");
    world.advance(1_000);
    assertThat(running("j")).isZero();
    assertThat(reason("j", "b"))
        .isEqualTo(
            "window of job j closes Mon 22:00 UTC, and a task takes up to 30 min; the next opens"
                + " Tue 20:00 UTC (in 22 h 30 min)");
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).isEqualTo(1);
  }

  @Test
  void aTaskThatJustFitsStartsAndAllowedOnesStartToTheEnd() {
    world.at("2026-11-23T21:30:00Z");
    String windows = ", \"windows\": [\"20:00-22:00 UTC\"], \"assume\": \"30m\"";
    world.configure(config("", "", windows));
    assertThat(running("j")).isEqualTo(1);
    world.advance(1_000);
    world.writes("j", "a", "done");
    world.advance(1_000);
    assertThat(running("j")).isZero();
    world.configure(config("", "", windows + ", \"overrun\": \"allow\""));
    assertThat(running("j")).isEqualTo(1);
  }

  @Test
  void theDurationsOfTwentyTasksCountMoreThanWhatIsAssumed() {
    world.at("2026-11-23T20:00:00Z");
    String nodes =
        IntStream.range(0, 30).mapToObj(i -> "\"n" + i + "\"").collect(Collectors.joining(", "));
    world.configure(
        config("", "", ", \"windows\": [\"20:00-22:00 UTC\"], \"assume\": \"1s\"")
            .replace("\"a\", \"b\"", nodes));
    for (int i = 0; i < 20; i++) {
      assertThat(running("j")).as("task " + i).isEqualTo(1);
      world.advance(300_000);
      oneIsDone();
    }
    // Tasks take five minutes, which is known a minute later at the latest.
    world.until("2026-11-23T21:56:00Z");
    oneIsDone();
    assertThat(running("j")).isZero();
    assertThat(world.core.tasks().explain("j", "n29").reasons())
        .extracting(Explanation.Reason::message)
        .anyMatch(message -> message.contains("and a task takes up to 6 min"));
  }

  @Test
  void whereNothingIsAssumedTheFirstDurationsCount() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(config("", "", ", \"windows\": [\"20:00-22:00 UTC\"]"));
    world.until("2026-11-23T21:00:00Z");
    world.writes("j", "a", "done");
    world.advance(1_000);
    assertThat(running("j")).as("nobody has looked at it yet").isEqualTo(1);
    world.until("2026-11-23T21:30:00Z");
    world.writes("j", "b", "incomplete");
    world.advance(10_000);
    assertThat(running("j")).isZero();
  }

  // ---- nodes

  private static final String HOSTS =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
         "node_sources": [{"source": "manual", "prefs": {%s}}]},
         "node_windows": [%s],
         "resources": {}},
       "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["x"]}}
      """;

  private static final String RULES =
      """
      {"level": "host", "tag": "eu", "windows": ["22:00-05:00 Europe/Berlin"]},
      {"level": "host", "attribute": "upkeep"}
      """;

  private static final String FOUR =
      """
      "eu1": {"children": ["e"], "tags": ["eu"]},
      "own": {"children": ["o"], "tags": ["eu"],
         "attributes": {"upkeep": "10:00-11:00 UTC; Sat America/New_York"}},
      "bad": {"children": ["b"], "attributes": {"upkeep": "Mon Mars/Base"}},
      "plain": ["p"]
      """;

  private List<String> nodes() {
    return world.running.keySet().stream().map(TaskKey::node).sorted().toList();
  }

  @Test
  void whatIsOpenForYearsIsNoNews() {
    world.at("2026-11-23T10:30:00Z");
    String always = HOSTS.formatted("\"h\": [\"d\"]", "{\"level\": \"host\", \"windows\": [%s]}");
    world.configure(always.formatted("\"Mon-Sun UTC\""));
    assertThat(nodes()).containsExactly("d");
    world.advance(200);
    assertThat(Objects.requireNonNull(world.view).windows()).isEmpty();
    world.configure(always.formatted("\"Mon-Fri UTC\""));
    assertThat(view(0).message())
        .isEqualTo("1 node of level host may start tasks until Sat 00:00 UTC");
  }

  @Test
  void nodesHaveWindowsByTagAndByAttributeInTheirOwnZones() {
    world.at("2026-11-23T10:30:00Z");
    world.configure(HOSTS.formatted(FOUR, RULES));
    assertThat(nodes()).containsExactly("o", "p");
    assertThat(reason("j", "e"))
        .isEqualTo("window of host eu1 opens Mon 22:00 CET (in 10 h 30 min)");
    assertThat(reason("j", "b"))
        .isEqualTo(
            "windows of host bad are broken: \"Mon Mars/Base\": unknown time zone \"Mars/Base\"");
    world.advance(200);
    assertThat(Objects.requireNonNull(world.view).errors().get("windows"))
        .startsWith("nothing starts on 1 node, whose attribute has no windows: bad: ");
    assertThat(Objects.requireNonNull(world.loop.jobStates().get("j")).state())
        .isNotEqualTo(JobState.STUCK);
    world.until("2026-11-23T11:00:00Z");
    world.writes("j", "o", "incomplete");
    world.writes("j", "p", "incomplete");
    world.advance(10_000);
    assertThat(nodes()).containsExactly("p");
    assertThat(reason("j", "o")).startsWith("window of host own opens Tue 10:00 UTC");
    world.until("2026-11-23T21:00:00Z");
    assertThat(nodes()).containsExactly("e", "p");
    assertThat(world.events)
        .filteredOn(event -> event.kind().equals("window_opened"))
        .singleElement()
        .satisfies(event -> assertThat(event.data().toString()).contains("1 node of level host"));
    world.core.verify();
  }

  @Test
  void otherRulesAndOtherNodesCountAtOnce() {
    world.at("2026-11-23T12:00:00Z");
    world.configure(HOSTS.formatted(FOUR, RULES));
    assertThat(nodes()).containsExactly("p");
    world.configure(HOSTS.formatted(FOUR.replace("Mon Mars/Base", "Mon UTC"), RULES));
    assertThat(nodes()).containsExactly("b", "p");
    world.configure(HOSTS.formatted(FOUR, RULES.replace("22:00-05:00", "12:00-15:00")));
    assertThat(nodes()).containsExactly("b", "e", "p");
    world.writes("j", "p", "incomplete");
    world.configure(HOSTS.formatted(FOUR, "{\"level\": \"instance\", \"windows\": [\"Sun UTC\"]}"));
    world.advance(10_000);
    assertThat(nodes()).containsExactly("b", "e");
    world.configure(HOSTS.formatted(FOUR, ""));
    assertThat(nodes()).containsExactly("b", "e", "o", "p");
    world.core.verify();
  }

  @Test
  void anAttributeThatIsNullIsNone() {
    world.at("2026-11-23T12:00:00Z");
    world.configure(HOSTS.formatted(FOUR.replace("\"Mon Mars/Base\"", "null"), RULES));
    assertThat(nodes()).containsExactly("b", "p");
  }

  @Test
  void manyNodesAreClosedInSlicesAndNothingStartsBefore() {
    world.at("2026-11-23T12:00:00Z");
    String hosts =
        IntStream.range(0, 7_000)
            .mapToObj(i -> "\"h" + i + "\": {\"tags\": [\"eu\"]}")
            .collect(Collectors.joining(", "));
    String config =
        HOSTS
            .formatted(hosts, RULES)
            .replace("\"owner\"", "\"level_for_tasks\": \"host\", \"owner\"");
    world.configure(config);
    assertThat(nodes()).isEmpty();
    assertThat(world.core.gates().of(GateKind.NODE_WINDOW)).hasSize(7_000);
    world.until("2026-11-23T21:00:00Z");
    assertThat(nodes()).hasSize(7_000);
    world.configure(config.replace("22:00-05:00", "06:00-07:00"));
    world.writes("j", "h6999", "incomplete");
    world.advance(10_000);
    assertThat(nodes()).hasSize(6_999);
  }

  @Test
  void aReservationEndsWithTheWindow() {
    world.at("2026-11-23T08:00:00Z");
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
    world.until("2026-11-23T08:59:00Z");
    assertThat(world.core.capacity().reservedNodes()).isEqualTo(1);
    world.until("2026-11-23T09:00:01Z");
    assertThat(world.core.capacity().reservedNodes()).isZero();
  }

  @Test
  void aClosedJobIsClosedAfterARestart() {
    world.at("2026-11-23T10:00:00Z");
    String config = config("", "", ", \"windows\": [\"22:00-23:00 UTC\"]");
    world.configure(config);
    world.crashAndRestart();
    world.configure(config);
    assertThat(running("j")).isZero();
    world.until("2026-11-23T22:00:00Z");
    assertThat(running("j")).isEqualTo(1);
  }

  @Test
  void whatIsClosedWhenASchedulerBeginsHasNotClosedNow() {
    String nodes =
        ", \"node_windows\": [{\"level\": \"host\", \"windows\": [\"21:00-23:00 UTC\"]}]";
    String config = config(nodes, "", ", \"windows\": [\"22:00-23:00 UTC\"]");
    world.at("2026-11-23T10:00:00Z");
    world.configure(config);
    world.crashAndRestart();
    world.configure(config);
    world.until("2026-11-23T12:00:00Z");
    assertThat(events()).isEmpty();
    world.configure(config.replace("\"22:00-", "\"22:30-"));
    world.advance(1_000);
    assertThat(events()).as("windows that a change brings").containsExactly("window_closed");
  }
}
