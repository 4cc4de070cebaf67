package io.espalier.webui.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.WindowView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

class HttpMetricsTest {
  private static JobProgress job(String name, long done) {
    return JobProgress.of(name, done, 0, 0, 1, 0, 0, 0, 2, 3);
  }

  @Test
  void theLargestJobsHaveTheirOwnLinesAndTheOthersOne() {
    List<JobProgress> jobs = new ArrayList<>();
    for (int i = 0; i < HttpMetrics.MAX_JOBS + 50; i++) {
      jobs.add(job("job" + i, i));
    }
    // It is counted with the others, and no line is written twice.
    jobs.add(job("other", 1_000_000));
    Collection<JobProgress> shown = HttpMetrics.shown(jobs);
    assertThat(shown).extracting(JobProgress::job).doesNotHaveDuplicates().contains("job1049");
    assertThat(shown).hasSize(HttpMetrics.MAX_JOBS + 1);
    JobProgress rest =
        shown.stream().filter(job -> job.job().equals(HttpMetrics.OTHER)).findFirst().orElseThrow();
    assertThat(rest.done()).isEqualTo(1_000_000 + 49 * 50 / 2);
    assertThat(rest.running()).isEqualTo(51);
    assertThat(rest.disabled()).isEqualTo(3 * 51);
    assertThat(shown.stream().mapToLong(JobProgress::total).sum())
        .as("nothing is lost")
        .isEqualTo(jobs.stream().mapToLong(JobProgress::total).sum());
  }

  @Test
  void windowsAreCountedByWhetherTheyAreOpen() {
    WindowView closed = new WindowView("", "j", "", 0, false, 1, "opens");
    WindowView open = new WindowView("q", "", "", 0, true, 1, "is open");
    SchedulerView view = SchedulerView.EMPTY.with().windows(List.of(closed, open, closed)).build();
    assertThat(HttpMetrics.windows(view, true)).isEqualTo(1);
    assertThat(HttpMetrics.windows(view, false)).isEqualTo(2);
  }

  @Test
  void fewJobsAreAsTheyAre() {
    List<JobProgress> jobs = List.of(job("a", 1), job("other", 2));
    assertThat(HttpMetrics.shown(jobs)).isSameAs(jobs);
  }
}
