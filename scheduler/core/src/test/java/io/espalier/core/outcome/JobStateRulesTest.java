package io.espalier.core.outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.OutcomeRules;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The machine of job states: every state under everything that can happen to a job. */
class JobStateRulesTest {
  private static final JobCounts FRESH = new JobCounts(4, 0, 0, 0, 0, 0);
  private static final String BROKEN = "2 of 3 ended tasks failed, 5 % allowed";

  private static JobStateInputs facts(JobCounts tally, JobFlags flags) {
    return new JobStateInputs(true, "", "", "", 100, tally, flags);
  }

  private static JobStateInputs facts(JobCounts tally) {
    return facts(tally, JobFlags.NONE);
  }

  private static final JobFlags PAUSED = new JobFlags(true, false, "", false);
  private static final JobFlags STOPPED = new JobFlags(true, true, "", false);
  private static final JobFlags FAILED = new JobFlags(false, false, BROKEN, false);

  /** A job in each state, and the two ends that differ in what comes after them. */
  private static Map<String, JobStateInputs> states() {
    Map<String, JobStateInputs> all = new LinkedHashMap<>();
    all.put("waiting", facts(FRESH));
    all.put("running", facts(new JobCounts(1, 0, 2, 1, 0, 0)));
    all.put("succeeded", facts(new JobCounts(0, 0, 0, 4, 0, 0)));
    all.put(
        "succeeded early",
        new JobStateInputs(true, "", "", "", 50, new JobCounts(1, 1, 0, 2, 0, 0), JobFlags.NONE));
    all.put(
        "open",
        new JobStateInputs(
            true, "", "", "", OutcomeRules.NEVER, new JobCounts(1, 0, 2, 1, 0, 0), JobFlags.NONE));
    all.put(
        "open all done",
        new JobStateInputs(
            true, "", "", "", OutcomeRules.NEVER, new JobCounts(0, 0, 0, 4, 0, 0), JobFlags.NONE));
    all.put("failed by rule", facts(new JobCounts(1, 0, 0, 1, 2, 0), FAILED));
    all.put("failed at the end", facts(new JobCounts(0, 0, 0, 3, 1, 0)));
    all.put("stopped", facts(new JobCounts(1, 1, 0, 2, 0, 0), STOPPED));
    all.put("paused", facts(FRESH, PAUSED));
    all.put("disabled", new JobStateInputs(true, "off", "", "", 100, FRESH, JobFlags.NONE));
    all.put("invalid", new JobStateInputs(false, "", "", "", 100, FRESH, JobFlags.NONE));
    return all;
  }

  private static UnaryOperator<JobStateInputs> flagged(JobEvent event) {
    return facts -> facts.with(JobStateRules.after(facts, event, BROKEN));
  }

  private static UnaryOperator<JobStateInputs> counted(UnaryOperator<JobCounts> change) {
    return facts -> facts.with(change.apply(facts.tally()));
  }

  private static Map<String, UnaryOperator<JobStateInputs>> events() {
    Map<String, UnaryOperator<JobStateInputs>> all = new LinkedHashMap<>();
    all.put(
        "task starts",
        counted(t -> new JobCounts(t.untried() - 1, t.left(), t.running() + 1, t.done(), 0, 0)));
    all.put("all are done", counted(t -> new JobCounts(0, 0, 0, t.total(), 0, 0)));
    all.put(
        "rest fails",
        counted(t -> new JobCounts(0, 0, 0, t.done(), t.failed() + t.total() - t.ended(), 0)));
    all.put(
        "node comes",
        counted(
            t -> new JobCounts(t.untried() + 1, t.left(), t.running(), t.done(), t.failed(), 0)));
    all.put("pause", flagged(JobEvent.PAUSE));
    all.put("pause ends", flagged(JobEvent.PAUSE_ENDS));
    all.put("stop", flagged(JobEvent.STOP));
    all.put("resume", flagged(JobEvent.RESUME));
    all.put(
        "forgive",
        facts ->
            flagged(JobEvent.FORGIVE)
                .apply(
                    counted(
                            t ->
                                new JobCounts(
                                    t.untried(),
                                    t.left() + t.failed(),
                                    t.running(),
                                    t.done(),
                                    0,
                                    0))
                        .apply(facts)));
    all.put(
        "rerun",
        facts ->
            flagged(JobEvent.RERUN)
                .apply(
                    counted(t -> new JobCounts(t.total() - t.running(), 0, t.running(), 0, 0, 0))
                        .apply(facts)));
    all.put("rule broken", flagged(JobEvent.RULE_BROKEN));
    all.put(
        "disable",
        f ->
            new JobStateInputs(
                f.valid(), "off", f.overdue(), f.stuck(), f.donePercent(), f.tally(), f.flags()));
    all.put(
        "enable",
        f ->
            new JobStateInputs(
                f.valid(), "", f.overdue(), f.stuck(), f.donePercent(), f.tally(), f.flags()));
    all.put(
        "break",
        f ->
            new JobStateInputs(
                false, f.off(), f.overdue(), f.stuck(), f.donePercent(), f.tally(), f.flags()));
    all.put(
        "repair",
        f ->
            new JobStateInputs(
                true, f.off(), f.overdue(), f.stuck(), f.donePercent(), f.tally(), f.flags()));
    all.put(
        "deadline",
        f ->
            new JobStateInputs(
                f.valid(), f.off(), "too late", f.stuck(), f.donePercent(), f.tally(), f.flags()));
    return all;
  }

  /**
   * What becomes of each, in the order of {@link #events}: w, r, o (open), s, f, t (stopped), p, d,
   * i; - is no legal move.
   */
  private static final Map<String, String> MATRIX =
      Map.ofEntries(
          //                    start done fail node pause ends stop resume forgive rerun rule dis
          // en br rep dl
          Map.entry("waiting", "r s f w p - t - w w f d w i w f"),
          Map.entry("running", "r s f r p - t - r r f d r i r r"),
          Map.entry("succeeded", "- s s r s - s - s w - d s i s s"),
          Map.entry("succeeded early", "r s s r s - s r r w - d s i s s"),
          Map.entry("open", "o o o o p - t - o o f d o i o r"),
          Map.entry("open all done", "- o o o p - t - o o f d o i o s"),
          Map.entry("failed by rule", "f f f f f - f r r w - d f i f f"),
          Map.entry("failed at the end", "- s f r f - f - r w f d f i f f"),
          Map.entry("stopped", "t s f t p - t r t t f d t i t f"),
          Map.entry("paused", "p s f p p w t w p p f d p i p f"),
          Map.entry("disabled", "d d d d d - d - d d d d w i d d"),
          Map.entry("invalid", "i i i i i - i - i i i i i i w i"));

  static Stream<Arguments> matrix() {
    List<Arguments> all = new ArrayList<>();
    states()
        .forEach(
            (state, facts) -> {
              String[] row = Objects.requireNonNull(MATRIX.get(state)).split(" ");
              List<String> names = List.copyOf(events().keySet());
              assertThat(row).hasSameSizeAs(names);
              for (int i = 0; i < row.length; i++) {
                all.add(Arguments.of(state, names.get(i), row[i]));
              }
            });
    return all.stream();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("matrix")
  void everyPairOfAStateAndAnEvent(String state, String event, String expected) {
    JobStateInputs before = Objects.requireNonNull(states().get(state));
    UnaryOperator<JobStateInputs> happens = Objects.requireNonNull(events().get(event));
    if (expected.equals("-") && !event.startsWith("task")) {
      assertThatThrownBy(() -> happens.apply(before))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("of a job that is " + firstWord(state));
      return;
    }
    if (expected.equals("-")) {
      assertThat(before.tally().untried()).as("there is nothing to start").isZero();
      return;
    }
    assertThat(JobStateRules.of(happens.apply(before)).state()).isEqualTo(ofLetter(expected));
  }

  private static JobState ofLetter(String letter) {
    return switch (letter) {
      case "w" -> JobState.WAITING;
      case "r" -> JobState.RUNNING;
      case "o" -> JobState.OPEN;
      case "s" -> JobState.SUCCEEDED;
      case "f" -> JobState.FAILED;
      case "t" -> JobState.STOPPED;
      case "p" -> JobState.PAUSED;
      case "d" -> JobState.DISABLED;
      case "i" -> JobState.INVALID;
      default -> throw new IllegalArgumentException(letter);
    };
  }

  @Test
  void theJobsOfTheMatrixAreInTheStatesTheyAreCalledBy() {
    states()
        .forEach(
            (name, facts) ->
                assertThat(JobStateRules.of(facts).state().word()).isEqualTo(firstWord(name)));
  }

  @Test
  void aFailureByRuleIsEndedByOperatorsOnly() {
    JobStateInputs failed = Objects.requireNonNull(states().get("failed by rule"));
    events()
        .forEach(
            (name, event) -> {
              if (List.of("pause ends", "rule broken").contains(name)) {
                return;
              }
              boolean lifts = List.of("resume", "forgive", "rerun").contains(name);
              assertThat(event.apply(failed).flags().isFailed()).as(name).isEqualTo(!lifts);
            });
  }

  @Test
  void aFailureWaitsBelowWhatTheConfigurationSays() {
    JobStateInputs failed = Objects.requireNonNull(states().get("failed by rule"));
    JobStateInputs off = Objects.requireNonNull(events().get("disable")).apply(failed);
    assertThat(JobStateRules.of(off).state()).isEqualTo(JobState.DISABLED);
    JobStateInputs on = Objects.requireNonNull(events().get("enable")).apply(off);
    assertThat(JobStateRules.of(on)).isEqualTo(new JobStateRules.Verdict(JobState.FAILED, BROKEN));
  }

  @Test
  void reasonsHaveTheNumbers() {
    assertThat(JobStateRules.of(facts(new JobCounts(0, 0, 0, 97, 3, 0))).reason())
        .isEqualTo("nothing is left to run: 97 of 100 tasks are done, 3 failed for good");
    assertThat(JobStateRules.of(facts(new JobCounts(0, 0, 0, 1, 0, 0))).reason())
        .isEqualTo("its task is done");
    assertThat(JobStateRules.of(facts(JobCounts.NONE)))
        .isEqualTo(
            new JobStateRules.Verdict(JobState.WAITING, "there is no node that it may run on"));
    JobStateInputs early =
        new JobStateInputs(
            true, "", "", "", 99.5, new JobCounts(2, 2, 0, 995, 1, 0), JobFlags.NONE);
    assertThat(JobStateRules.of(early))
        .isEqualTo(
            new JobStateRules.Verdict(
                JobState.SUCCEEDED,
                "995 of 1000 tasks are done, 99.5 % are enough;"
                    + " 4 are left and not started any more"));
    JobStateInputs overdue =
        new JobStateInputs(
            true,
            "",
            "the job was to be complete by noon",
            "",
            100,
            new JobCounts(1, 0, 0, 3, 0, 0),
            JobFlags.NONE);
    assertThat(JobStateRules.of(overdue).reason())
        .isEqualTo("the job was to be complete by noon; 3 of 4 tasks are done");
  }

  @Test
  void enoughIsOnlyEnoughWhenNothingRunsAnyMore() {
    JobStateInputs ending =
        new JobStateInputs(true, "", "", "", 50, new JobCounts(1, 0, 1, 2, 0, 0), JobFlags.NONE);
    assertThat(ending.restIsNotNeeded()).isTrue();
    assertThat(JobStateRules.of(ending).state()).isEqualTo(JobState.RUNNING);
    JobStateInputs ended = ending.with(new JobCounts(1, 0, 0, 2, 1, 0));
    assertThat(JobStateRules.of(ended).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @ParameterizedTest
  @CsvSource({
    "6, 100, 6, true, false",
    "5, 100, 6, false, false",
    "7, 100, 6, true, true",
    "7, 10000, 0.07, true, false",
    "8, 10000, 0.07, true, true",
    "1099, 100000, 1.1, false, false",
    "1100, 100000, 1.1, true, false",
    "0, 0, 100, true, false",
    "0, 5, 0, true, false",
    "1, 5, 0, true, true",
    "2000000000, 2000000000, 100, true, false"
  })
  void sharesAreComparedExactly(
      long part, long whole, double percent, boolean atLeast, boolean more) {
    assertThat(Percent.isAtLeast(part, whole, percent)).isEqualTo(atLeast);
    assertThat(Percent.isMoreThan(part, whole, percent)).isEqualTo(more);
  }

  private static String firstWord(String text) {
    int blank = text.indexOf(' ');
    return blank < 0 ? text : text.substring(0, blank);
  }
}
