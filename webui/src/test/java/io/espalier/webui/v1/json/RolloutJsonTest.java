package io.espalier.webui.v1.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import java.util.List;
import org.junit.jupiter.api.Test;

class RolloutJsonTest {
  private static final Rollout WAITING =
      Rollout.begun("j", 1, List.of("8", "100%"), List.of(8L, 40L), 5).in(Phase.WAITING, 9);

  @Test
  void aStageThatWaitsForAnApprovalHasPassed() {
    assertThat(RolloutJson.of(WAITING).toString())
        .contains("\"phase\":\"waiting\"")
        .contains("{\"size\":\"8\",\"tasks\":8,\"verdict\":\"passed\"}")
        .doesNotContain("reason");
  }

  @Test
  void aStageThatProvesTooLittleHasNot() {
    Json json = RolloutJson.of(WAITING.inconclusive("2 of 8 are in quarantine"));
    assertThat(json.toString())
        .contains("\"phase\":\"waiting\"")
        .contains("{\"size\":\"8\",\"tasks\":8,\"verdict\":\"running\"}")
        .contains("\"reason\":\"2 of 8 are in quarantine\"");
  }
}
