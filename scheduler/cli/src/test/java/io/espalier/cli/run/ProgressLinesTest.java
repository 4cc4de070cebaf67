package io.espalier.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobProgress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lines of {@code espalier run}. */
class ProgressLinesTest {
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

  /** Returns the line of a job without its name and bar. */
  private static String facts(JobProgress job) {
    String line = new ProgressLines(false).render(List.of(job), 0, 100).get(0);
    return line.replaceFirst("^load  [^0-9]*", "");
  }
}
