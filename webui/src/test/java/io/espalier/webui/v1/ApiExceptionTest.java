package io.espalier.webui.v1;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.RefusedException;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ApiExceptionTest {
  @Test
  void whatIsNotAnsweredInTimeIsToldWithTheReason() {
    ApiException failure = ApiException.of(new TimeoutException("the disk is full"));
    assertThat(failure.status()).isEqualTo(504);
    assertThat(failure.document().get("detail")).isEqualTo(Json.of("the disk is full"));
    assertThat(ApiException.of(new TimeoutException()).document().get("detail"))
        .isEqualTo(Json.of("the scheduler did not answer in time"));
  }

  @Test
  void theSentenceForPeopleIsBounded() {
    ApiException refused =
        ApiException.of(RefusedException.invalid("job x" + "y".repeat(1_000_000), List.of()));
    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.document().get("detail"))
        .isEqualTo(Json.of("job x" + "y".repeat(3_995) + "…"));
  }
}
