package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.problem.Problem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ProtocolTimersTest {
  static Stream<String> presets() {
    return ProtocolTimers.presets().keySet().stream();
  }

  private static ProtocolTimers preset(String name) {
    ProtocolTimers timers = ProtocolTimers.presets().get(name);
    assertThat(timers).isNotNull();
    return timers == null ? ProtocolTimers.BALANCED : timers;
  }

  private static ProtocolTimers with(Map<String, Long> changes) {
    Map<String, Long> values = new HashMap<>(ProtocolTimers.BALANCED.values());
    values.putAll(changes);
    return ProtocolTimers.of(values);
  }

  private static List<String> paths(ProtocolTimers timers) {
    return timers.problems().stream().map(Problem::path).toList();
  }

  @ParameterizedTest
  @MethodSource("presets")
  void everyPresetIsFitForUse(String name) {
    assertThat(preset(name).problems()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("presets")
  void valuesAndTimersAreTheSame(String name) {
    assertThat(ProtocolTimers.of(preset(name).values())).isEqualTo(preset(name));
  }

  @Test
  void byDefaultAWorkerIsLostAfterNinetySecondsAndItsTasksAreStoppedBefore() {
    ProtocolTimers timers = ProtocolTimers.BALANCED;

    assertThat(timers.lostMillis()).isEqualTo(90_000);
    assertThat(timers.stopAfterMillis()).isEqualTo(55_000);
    assertThat(timers.guardAfterMillis()).isEqualTo(70_000);
    assertThat(timers.stopAfterMillis() + timers.killWaitMillis())
        .isLessThan(timers.guardAfterMillis());
  }

  @ParameterizedTest
  @CsvSource({
    "call, 15000, call",
    "heartbeat, 30000, lease",
    "stop, 14000, stop",
    "margin, 1000, margin",
    "unhealthy, 10000, unhealthy",
    "unhealthy, 90000, unhealthy",
    "ask_first, 60000, ask_max",
    "report_first, 60000, report_max",
    "takeover, 89999, takeover",
    "lease, 0, lease",
  })
  void whatDoesNotGoTogetherIsNamed(String name, long millis, String expected) {
    assertThat(paths(with(Map.of(name, millis)))).contains(expected);
  }

  @Test
  void allProblemsAreSaidAtOnceWithBothFigures() {
    ProtocolTimers timers = with(Map.of("margin", 10L, "stop", 1_000L, "call", 20_000L));

    assertThat(paths(timers)).contains("margin", "stop", "call");
    assertThat(timers.problems().toString()).contains("20000 ms", "15000 ms", "1715 ms");
  }

  @Test
  void aTakeOverOutwaitsTheLeasesOfTheLeadershipBefore() {
    long patient = ProtocolTimers.PATIENT.lostMillis();

    ProtocolTimers quick = ProtocolTimers.QUICK.outwaiting(patient);

    assertThat(quick.takeoverMillis()).isEqualTo(patient);
    assertThat(quick.problems()).isEmpty();
    assertThat(quick.lostMillis()).isEqualTo(ProtocolTimers.QUICK.lostMillis());
    assertThat(ProtocolTimers.PATIENT.outwaiting(ProtocolTimers.QUICK.lostMillis()))
        .isEqualTo(ProtocolTimers.PATIENT);
    assertThat(ProtocolTimers.QUICK.outwaiting(0)).isEqualTo(ProtocolTimers.QUICK);
  }

  @Test
  void aMissingValueIsNamed() {
    Map<String, Long> values = new HashMap<>(ProtocolTimers.BALANCED.values());
    values.remove("lease");

    assertThatThrownBy(() -> ProtocolTimers.of(values)).hasMessageContaining("lease");
  }

  @Test
  void theMarginGrowsWithTheLeaseBecauseClocksDrift() {
    assertThat(ProtocolTimers.leastMargin(75_000)).isEqualTo(1_715);
    assertThat(ProtocolTimers.leastMargin(600_000)).isEqualTo(12_321);
  }

  @Test
  void ageIsTheLargestThatAnyClockSees() {
    ClockReading sent = new ClockReading(1_000, 5_000, 1_000_000);

    assertThat(new ClockReading(2_000, 6_000, 1_001_000).millisSince(sent)).isEqualTo(1_000);
    assertThat(new ClockReading(2_000, 66_000, 1_001_000).millisSince(sent)).isEqualTo(61_000);
    assertThat(new ClockReading(2_000, 6_000, 4_600_000).millisSince(sent)).isEqualTo(3_600_000);
    assertThat(new ClockReading(2_000, 6_000, 10).millisSince(sent)).isEqualTo(1_000);
    assertThat(new ClockReading(900, 4_000, 10).millisSince(sent)).isZero();
  }

  @Test
  void theNewestCommonVersionIsUsed() {
    assertThat(new Versions(1, 3).common(new Versions(2, 5))).hasValue(3);
    assertThat(new Versions(4, 5).common(new Versions(1, 4))).hasValue(4);
    assertThat(new Versions(1, 1).common(new Versions(2, 3))).isEmpty();
  }
}
