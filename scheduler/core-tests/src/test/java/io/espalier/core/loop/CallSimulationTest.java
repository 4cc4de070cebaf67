package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

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

  /** The seeds of the table change with every change of the core; that there is one must not. */
  @ParameterizedTest
  @CsvSource({
    "ADOPTED_IS_SENT,SENT_ONCE",
    "LOST_IS_FAILED,NEVER_TWICE_AT_ONCE",
    "UNKNOWN_IS_REFUSED,NEVER_TWICE_AT_ONCE",
    "ABSENCE_PROVES,NEVER_TWICE_AT_ONCE",
    "REPORT_FOR_ANY,NEVER_TWICE_AT_ONCE",
    "WAITS_FOR_EVER,EVERYTHING_ENDS"
  })
  void aMistakeBreaksItsProperty(Mistake mistake, Property property) {
    for (long seed = 1; seed <= 100; seed++) {
      Violation violation = CallSimulation.first(seed, 1, mistake, new EnumMap<>(Trouble.class));
      if (violation != null && violation.property == property) {
        System.out.println(mistake + " is caught by seed " + seed);
        assertThat(new CallSimulation(seed, Mistake.NONE).live()).isNotEmpty();
        return;
      }
    }
    throw new AssertionError(mistake + " is not caught by 100 seeds");
  }
}
