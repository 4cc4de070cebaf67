package io.espalier.e2e.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.e2e.drill.RemoteDrill.Outcome;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few schedules of the drill; the long run is {@link LongDrill}. */
@Tag("slow")
final class RemoteDrillIT {
  private static final int SCHEDULES = 2;

  @Test
  void noTaskLivesTwiceAndNothingDoneIsLostWhateverIsKilledFrozenOrCutOff(@TempDir Path site)
      throws Exception {
    String whyNot = Hosts.whyNoNamespaces();
    if (!whyNot.isEmpty()) {
      System.err.println("SKIPPED: cutting links, this machine has no namespaces: " + whyNot);
    }
    try (RemoteDrill drill = RemoteDrill.start(site, 3, whyNot.isEmpty(), freePort())) {
      Outcome frozen = drill.freezeOne(1);
      assertRight(frozen, drill);
      assertThat(frozen.takenOver()).as("tasks of a frozen worker that ran elsewhere").isPositive();
      for (long seed = 1; seed <= SCHEDULES; seed++) {
        assertRight(drill.schedule(seed), drill);
      }
    }
  }

  private static void assertRight(Outcome outcome, RemoteDrill drill) {
    assertThat(outcome.violations())
        .as(() -> outcome.faults() + "\n" + drill.lastWords())
        .isEmpty();
  }

  /** The first of a few that follow each other. */
  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort() % 10_000 + 20_000;
    }
  }
}
