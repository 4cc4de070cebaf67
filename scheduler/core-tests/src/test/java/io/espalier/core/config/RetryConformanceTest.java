package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.config;
import static io.espalier.testkit.config.ConfigFixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.problem.Problem;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code retry} of the settings and of jobs
 * (docs/design/features.md#retries-that-look-at-progress).
 */
class RetryConformanceTest {
  private static String document(String settings, String job) {
    return "{'bistro_settings': {'nodes': {'levels': []}, 'resources': {}"
        + settings
        + "}, 'bistro_job->j': {'owner': 'o'"
        + job
        + "}}";
  }

  private static Job job(String settings, String job) {
    Config config = config(document(settings, job));
    Job read = Objects.requireNonNull(config.job("j"));
    assertThat(read.problems()).isEmpty();
    return read;
  }

  @Test
  void an_empty_one_has_the_values_of_airbyte() {
    assertThat(job("", ", 'retry': {}").retry())
        .contains(new ProgressRetryRules(5, 10, 20, List.of(10, 30, 90, 270), 0));
    assertThat(job("", "").retry()).isEmpty();
  }

  @Test
  void each_key_is_inherited_by_itself() {
    String settings =
        ", 'retry': {'max_total_progress': 7, 'no_progress_backoff_sec': [1, 1, 2],"
            + " 'progress_backoff_sec': 3}";
    assertThat(job(settings, "").retry())
        .contains(new ProgressRetryRules(5, 10, 7, List.of(1, 1, 2), 3));
    assertThat(
            job(settings, ", 'retry': {'max_successive_no_progress': 2, 'progress_backoff_sec': 0}")
                .retry())
        .contains(new ProgressRetryRules(2, 10, 7, List.of(1, 1, 2), 0));
    assertThat(job(settings, ", 'retry': {'max_total_no_progress': 4}").retry())
        .contains(new ProgressRetryRules(5, 4, 7, List.of(1, 1, 2), 3));
  }

  @Test
  void the_nearer_of_back_off_and_retry_decides() {
    assertThat(job(", 'retry': {}", ", 'backoff': [1]").retry()).isEmpty();
    assertThat(job(", 'backoff': [1]", ", 'retry': {}").retry())
        .contains(ProgressRetryRules.DEFAULT);
    Job back = job(", 'retry': {}", ", 'retry': false");
    assertThat(back.retry()).isEmpty();
    assertThat(back.backoff().repeats()).isTrue();
    assertThat(job(", 'retry': {}", ", 'retry': false, 'backoff': [4]").backoff().seconds())
        .containsExactly(4);
  }

  @Test
  void both_in_one_place_are_an_error() {
    Problem problem =
        parse(document("", ", 'retry': {}, 'backoff': [1]")).problems().stream()
            .filter(Problem::isError)
            .findFirst()
            .orElseThrow();
    assertThat(problem.path()).isEqualTo("bistro_job->j.retry");
    assertThat(problem.message()).contains("\"backoff\" is given too");
    assertThat(parse(document(", 'retry': {}, 'backoff': [1]", "")).problems())
        .filteredOn(Problem::isError)
        .extracting(Problem::path)
        .containsExactly("bistro_settings.retry");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'max_total_progress': 0} | retry.max_total_progress",
        "{'max_total_progress': -1} | retry.max_total_progress",
        "{'max_total_no_progress': 2147483648} | retry.max_total_no_progress",
        "{'max_successive_no_progress': 1e999} | retry.max_successive_no_progress",
        "{'max_successive_no_progress': 1.5} | retry.max_successive_no_progress",
        "{'progress_backoff_sec': -1} | retry.progress_backoff_sec",
        "{'no_progress_backoff_sec': []} | retry.no_progress_backoff_sec",
        "{'no_progress_backoff_sec': [1, -1]} | retry.no_progress_backoff_sec[1]",
        "{'no_progress_backoff_sec': [2, 1]} | retry.no_progress_backoff_sec[1]",
        "{'no_progress_backoff_sec': [2, 'x', 1]} | retry.no_progress_backoff_sec[1]",
        "{'no_progress_backoff_sec': 5} | retry.no_progress_backoff_sec",
        "{'max_total_progres': 5} | retry.max_total_progres",
        "[] | retry",
        "true | retry"
      })
  void broken_ones_are_errors_with_their_place(String retry, String path) {
    assertThat(parse(document("", ", 'retry': " + retry.replace('"', '\''))).problems())
        .filteredOn(Problem::isError)
        .extracting(Problem::path)
        .contains("bistro_job->j." + path);
  }

  @Test
  void an_exported_job_reads_back_the_same() {
    for (String members :
        List.of("", ", 'retry': {'max_total_progress': 3}", ", 'backoff': [1, 2]")) {
      for (String settings : List.of("", ", 'retry': {'progress_backoff_sec': 9}")) {
        Config config = config(document(settings, members));
        Job job = Objects.requireNonNull(config.job("j"));
        String exported = BistroJobWriter.toJson(job, config.settings()).toString();
        Job again =
            Objects.requireNonNull(
                config(
                        document(settings, "")
                            .replace("{'owner': 'o'}", exported.replace('"', '\'')))
                    .job("j"));
        assertThat(again.retry()).as(exported).isEqualTo(job.retry());
        assertThat(Optional.of(again.backoff())).contains(job.backoff());
      }
    }
  }
}
