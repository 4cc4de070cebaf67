package io.espalier.core.outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobStanding.Start;
import org.junit.jupiter.api.Test;

/** What is stored of a job is read back as it was. */
class JobStandingTest {
  @Test
  void everyStateIsReadBack() {
    for (JobState state : JobState.values()) {
      JobStanding plain =
          new JobStanding("j", state, "", 1_700_000_000_000L, "", false, false, Start.ALL);
      assertThat(JobStanding.fromJson("j", plain.toJson())).isEqualTo(plain);
      assertThat(plain.toJson().members()).hasSize(3);
      JobStanding full =
          new JobStanding("j", state, "why", 5, "6 of 53", true, true, new Start(6, 53, 77));
      assertThat(JobStanding.fromJson("j", full.toJson())).isEqualTo(full);
    }
  }

  @Test
  void whatIsNoStateIsRefused() {
    assertThatThrownBy(
            () -> JobStanding.fromJson("j", Json.object().put("state", "verifying").build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("verifying");
    assertThatThrownBy(() -> JobStanding.fromJson("j", Json.Obj.EMPTY))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
