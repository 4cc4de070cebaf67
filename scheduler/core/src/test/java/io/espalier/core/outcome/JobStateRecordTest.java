package io.espalier.core.outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobStateRecord.Start;
import org.junit.jupiter.api.Test;

/** What is stored of a job is read back as it was. */
class JobStateRecordTest {
  @Test
  void everyStateIsReadBack() {
    for (JobState state : JobState.values()) {
      JobStateRecord plain =
          new JobStateRecord("j", state, "", 1_700_000_000_000L, "", false, false, Start.ALL);
      assertThat(JobStateRecord.fromJson("j", plain.toJson())).isEqualTo(plain);
      assertThat(plain.toJson().members()).hasSize(3);
      JobStateRecord full =
          new JobStateRecord("j", state, "why", 5, "6 of 53", true, true, new Start(6, 53, 77));
      assertThat(JobStateRecord.fromJson("j", full.toJson())).isEqualTo(full);
    }
  }

  @Test
  void whatIsNoStateIsRefused() {
    assertThatThrownBy(
            () -> JobStateRecord.fromJson("j", Json.object().put("state", "perplexed").build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("perplexed");
    assertThatThrownBy(() -> JobStateRecord.fromJson("j", Json.Obj.EMPTY))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
