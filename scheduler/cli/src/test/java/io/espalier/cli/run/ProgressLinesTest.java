package io.espalier.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.term.Terminal;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.scheduling.query.NextAttempt;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The lines of {@code espalier run}. */
class ProgressLinesTest {
  private static final long NOW = 1_764_300_000_000L;

  @Test
  void aJobThatWaitsForItsWindowHasNotEnded() {
    assertThat(facts(JobProgress.of("load", 1, 0, 0, 0, 0, 0, 2, 0, 0)))
        .isEqualTo("1/3  0 running, 2 blocked");
  }

  @Test
  void aJobEndsWithAllTasksDoneOrSomeFailed() {
    assertThat(facts(JobProgress.of("load", 2, 0, 1, 0, 0, 0, 0, 0, 0)))
        .isEqualTo("2/3  0 running, 1 cancelled, complete");
    assertThat(facts(JobProgress.of("load", 2, 1, 0, 0, 0, 0, 0, 0, 0)))
        .isEqualTo("2/3  0 running, 1 failed, ended");
    assertThat(facts(JobProgress.of("load", 1, 0, 0, 1, 1, 0, 0, 0, 0)))
        .isEqualTo("1/3  1 running, 1 backing off");
  }

  @Test
  void whileAllThatIsLeftBacksOffItSaysWhenTheNextAttemptComes() {
    JobProgress waiting = JobProgress.of("load", 1, 0, 0, 0, 12, 0, 1, 0, 0);
    assertThat(facts(waiting, "load", 39_001))
        .isEqualTo("1/14  0 running, 12 backing off, 1 blocked, next attempt in 40 s");
    assertThat(facts(waiting, "load", 200_000)).endsWith(", next attempt in 3 min 20 s");
    assertThat(facts(waiting, "load", -50)).endsWith(", next attempt in 1 s");
    assertThat(facts(waiting, "other", 40_000)).endsWith("12 backing off, 1 blocked");
    assertThat(facts(JobProgress.of("load", 1, 0, 0, 1, 1, 0, 0, 0, 0), "load", 40_000))
        .isEqualTo("1/3  1 running, 1 backing off");
    assertThat(facts(JobProgress.of("load", 1, 0, 0, 0, 1, 1, 0, 0, 0), "load", 40_000))
        .isEqualTo("1/3  0 running, 1 backing off");
  }

  @Test
  void outsideOfATerminalATimeThatPassesIsNoNews() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ProgressRenderer renderer =
        new ProgressRenderer(
            new PrintStream(printed, true, StandardCharsets.UTF_8),
            new Terminal(false, false, Map.of()));
    JobProgress waiting = JobProgress.of("load", 1, 0, 0, 0, 12, 0, 0, 0, 0);
    long now = System.currentTimeMillis();
    renderer.show(List.of(waiting), Optional.of(new NextAttempt("load", now + 90_000)));
    renderer.last(List.of(waiting));
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .hasLineCount(1)
        .contains("next attempt in");
  }

  /** Returns the line of a job without its name and bar. */
  private static String facts(JobProgress job) {
    return facts(job, Optional.empty());
  }

  private static String facts(JobProgress job, String nextJob, long nextInMillis) {
    return facts(job, Optional.of(new NextAttempt(nextJob, NOW + nextInMillis)));
  }

  private static String facts(JobProgress job, Optional<NextAttempt> next) {
    String line = new ProgressLines(false).render(List.of(job), next, NOW, 100).get(0);
    return line.replaceFirst("^load  [^0-9]*", "");
  }
}
