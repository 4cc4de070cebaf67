package io.espalier.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobProgress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NewCausesTest {
  private final NewCauses causes = new NewCauses();
  private final List<FailureGroups.Group> groups = new ArrayList<>();
  private int asked;

  private List<String> since(long failed, long waiting) throws InterruptedException {
    JobProgress job = JobProgress.of("load", 0, failed, 0, 0, waiting, 0, 0, 0, 0);
    return causes.since(
        List.of(job),
        name -> {
          asked++;
          return new FailureGroups(name, 0, groups.size(), groups.size(), groups);
        });
  }

  private void fails(String fingerprint, String message) {
    groups.add(new FailureGroups.Group(fingerprint, message, 1, 0, 1, List.of("db-17"), 0));
  }

  @Test
  void eachCauseIsToldOnceWhenATaskHasFailedOfIt() throws Exception {
    assertThat(since(0, 0)).isEmpty();
    fails("1", "disk is read-only");
    assertThat(since(0, 1)).containsExactly("espalier: load failed on db-17: disk is read-only");
    assertThat(since(0, 2)).isEmpty();
    fails("2", "no space left");
    assertThat(since(1, 2)).containsExactly("espalier: load failed on db-17: no space left");
  }

  @Test
  void nobodyIsAskedWhileNothingHasChanged() throws Exception {
    fails("1", "x");
    assertThat(since(0, 0)).isEmpty();
    assertThat(asked).isZero();
    assertThat(since(1, 0)).hasSize(1);
    assertThat(since(1, 0)).isEmpty();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void messagesThatDifferByTaskAreNotAllTold() throws Exception {
    for (int i = 0; i < 30; i++) {
      fails("f" + i, "cause \u001b[2J " + i);
    }
    assertThat(since(30, 0)).hasSize(10).noneMatch(line -> line.contains("\u001b"));
  }
}
