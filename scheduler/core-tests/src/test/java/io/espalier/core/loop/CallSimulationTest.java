package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.loop.CallSimulation.Mistake;
import io.espalier.core.loop.CallSimulation.Property;
import io.espalier.core.loop.CallSimulation.Trouble;
import io.espalier.core.loop.CallSimulation.Violation;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls keep their promises in many lives, and each planted mistake is caught (PROTOCOL.md). */
class CallSimulationTest {
  private static final long SEEDS = Long.getLong("calls.seeds", 300);

  @Test
  void noSeedBreaksAnythingAndEverythingHappens() {
    Map<Trouble, Integer> sum = new EnumMap<>(Trouble.class);
    Violation violation = CallSimulation.first(1, SEEDS, Mistake.NONE, sum);
    assertThat(violation).isNull();
    assertThat(sum.keySet()).as("everything that can happen").contains(Trouble.values());
  }

  @ParameterizedTest
  @CsvSource({
    "ADOPTED_IS_SENT,1,SENT_ONCE",
    "LOST_IS_FAILED,1,NEVER_TWICE_AT_ONCE",
    "UNKNOWN_IS_REFUSED,1,NEVER_TWICE_AT_ONCE",
    "ABSENCE_PROVES,1,NEVER_TWICE_AT_ONCE",
    "REPORT_FOR_ANY,5,NEVER_TWICE_AT_ONCE",
    "WAITS_FOR_EVER,2,EVERYTHING_ENDS"
  })
  void aMistakeBreaksItsProperty(Mistake mistake, long seed, Property property) {
    assertThatThrownBy(() -> new CallSimulation(seed, mistake).live())
        .isInstanceOfSatisfying(
            Violation.class, violation -> assertThat(violation.property).isEqualTo(property));
    assertThat(new CallSimulation(seed, Mistake.NONE).live()).isNotEmpty();
  }
}
