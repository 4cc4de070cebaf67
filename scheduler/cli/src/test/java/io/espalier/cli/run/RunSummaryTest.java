package io.espalier.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobProgress;
import io.espalier.json.JsonReader;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunSummaryTest {
  private static RunSummary summary(long failed, FailureGroups... failures) {
    JobProgress job = JobProgress.of("lo ad", 3, failed, 0, 0, 0, 0, 0, 0, 0);
    return new RunSummary(
        List.of(job),
        Map.of(),
        List.of(),
        Map.of(),
        List.of(),
        List.of(failures),
        ".espalier/it's",
        4,
        1.0);
  }

  @Test
  void aRunWithoutTasksIsNotTakenForOneWhoseTasksWereDone() {
    assertThat(nothingStarted(0).lines())
        .contains("There is no task to run: the nodes of the configuration have none.")
        .noneMatch(line -> line.contains("done before"));
    assertThat(nothingStarted(3).lines()).anyMatch(line -> line.contains("done before"));
    assertThat(nothingStarted(3).noTasks()).isNull();
    RunSummary withoutJobs = nothingStarted();
    assertThat(withoutJobs.lines())
        .containsExactly("There is no task to run: the configuration has no job that is enabled.");
    assertThat(withoutJobs.exitCode()).isZero();
  }

  private static RunSummary nothingStarted(long done) {
    return nothingStarted(JobProgress.of("load", done, 0, 0, 0, 0, 0, 0, 0, 0));
  }

  private static RunSummary nothingStarted(JobProgress... jobs) {
    return new RunSummary(
        List.of(jobs),
        Map.of(),
        List.of(),
        Map.of(),
        List.of(),
        List.of(),
        ".espalier/site",
        0,
        1.0);
  }

  private static FailureGroups.Group group(long count, String message, String... nodes) {
    return new FailureGroups.Group("f", message, count, count, 0, List.of(nodes), 0);
  }

  @Test
  void eachCauseHasACountANodeAndTheCommandThatShowsMore() {
    FailureGroups failures =
        new FailureGroups(
            "lo ad",
            0,
            9,
            4,
            List.of(group(5, "disk is read-only", "db-17", "db-4"), group(1, "", "db-2")));
    assertThat(summary(9, failures).lines())
        .containsSubsequence(
            "  lo ad  3 of 12 done, 9 failed",
            "  failed: lo ad on db-17 and 4 more: disk is read-only",
            "    espalier logs 'lo ad' db-17 --stream stdout,stderr --data-dir"
                + " '.espalier/it'\\''s'",
            "  failed: lo ad on db-2: no reason is known",
            "  failed: lo ad, 2 more causes",
            "    espalier failures 'lo ad' --data-dir '.espalier/it'\\''s'");
  }

  @Test
  void programsGetTheSame() {
    FailureGroups failures = new FailureGroups("lo ad", 0, 2, 1, List.of(group(2, "x", "a", "b")));
    assertThat(summary(2, failures).toJson().get("jobs"))
        .isEqualTo(
            JsonReader.parse(
                    """
                    {"lo ad": {"done": 3, "failed": 2, "cancelled": 0, "blocked": 0, "running": 0, "total": 5,
                      "state": "waiting",
                      "failures": [{"count": 2, "message": "x", "nodes": ["a", "b"]}]}}
                    """)
                .value());
    assertThat(summary(0).toJson().toString()).doesNotContain("failures");
  }

  @Test
  void messagesCannotPlayWithTheTerminal() {
    FailureGroups failures =
        new FailureGroups("lo ad", 0, 1, 1, List.of(group(1, "\u001b[2Jgone", "a")));
    assertThat(summary(1, failures).lines()).noneMatch(line -> line.contains("\u001b"));
  }
}
