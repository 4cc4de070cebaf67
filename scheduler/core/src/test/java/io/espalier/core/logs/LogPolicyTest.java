package io.espalier.core.logs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LogPolicyTest {
  @Test
  void aJobsOwnRetentionAndPatternsPrevail() {
    LogPolicy policy =
        new LogPolicy(
            new LogRetention(1000, 50),
            Map.of("own", new LogRetention(0, 7)),
            List.of("a"),
            Map.of("own", List.of("a", "b")));
    assertThat(policy.of("own")).isEqualTo(new LogRetention(0, 7));
    // The size of all jobs is not that of each.
    assertThat(policy.of("other")).isEqualTo(new LogRetention(1000, 0));
    assertThat(policy.patternsOf("own")).containsExactly("a", "b");
    assertThat(policy.patternsOf("other")).containsExactly("a");
  }

  @Test
  void zeroKeepsForEver() {
    assertThat(LogRetention.ALL.keptSince(5)).isZero();
    assertThat(new LogRetention(10, 0).keptSince(5)).isZero();
    assertThat(new LogRetention(10, 0).keptSince(50)).isEqualTo(40);
  }
}
