package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import org.junit.jupiter.api.Test;

class PausedTimeLimitsTest {
  private static final long MS = 1_000_000L;

  @Test
  void aTaskThatIsToPauseNeedNotGiveASignOfLife() {
    TaskTimeLimits limits = new TaskTimeLimits(new InvocationLimits(0, 100, 0), 0);
    limits.pause(true, 60 * MS);
    assertThat(limits.due(500 * MS, 0)).isNull();
    assertThat(limits.waitNanos(500 * MS, 0)).isEqualTo(TaskTimeLimits.NEVER);
    limits.pause(false, 500 * MS);
    assertThat(limits.waitNanos(500 * MS, 0)).as("the clock begins again").isEqualTo(100 * MS);
    assertThat(limits.due(599 * MS, 0)).isNull();
    assertThat(limits.due(600 * MS, 0)).isEqualTo(StopReason.NO_OUTPUT);
  }

  @Test
  void whatIsSaidWithoutAPauseDoesNotCountAsASign() {
    TaskTimeLimits limits = new TaskTimeLimits(new InvocationLimits(0, 100, 0), 0);
    limits.pause(false, 90 * MS);
    assertThat(limits.due(100 * MS, 0)).isEqualTo(StopReason.NO_OUTPUT);
  }

  @Test
  void theTimeoutGoesOn() {
    TaskTimeLimits limits = new TaskTimeLimits(new InvocationLimits(300, 100, 0), 0);
    limits.pause(true, 60 * MS);
    assertThat(limits.waitNanos(200 * MS, 0)).isEqualTo(100 * MS);
    assertThat(limits.due(300 * MS, 0)).isEqualTo(StopReason.TIMEOUT);
  }
}
