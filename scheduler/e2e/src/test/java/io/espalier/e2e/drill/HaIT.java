package io.espalier.e2e.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A short drill of fail-over; the long one is {@link HaDrill}. */
@Timeout(420)
@Tag("slow")
final class HaIT {
  private static final int STATUSES = 20_000;

  @Test
  void eachTaskRunsOnceWhenTheLeaderIsKilledOrFrozen(@TempDir Path site) throws Exception {
    drill(site, HaCluster.Kind.MYSQL, List.of(false, true));
  }

  @Test
  void eachTaskRunsOnceWhenTheStoreElectsAnotherLeader(@TempDir Path site) throws Exception {
    drill(site, HaCluster.Kind.STORE, List.of(false));
  }

  private static void drill(Path site, HaCluster.Kind kind, List<Boolean> freezes)
      throws Exception {
    List<HaDrill.Round> rounds = new ArrayList<>();
    HaCluster cluster =
        new HaCluster(
            site, kind, new HaCluster.Size(3, 3, 10 * freezes.size(), STATUSES), freePorts());
    try (HaDrill drill = new HaDrill(cluster, 1, true)) {
      drill.begin();
      for (boolean freeze : freezes) {
        rounds.add(drill.round(freeze));
      }
      assertThat(drill.finish()).as(cluster::lastWords).isEmpty();
    }
    System.err.println("fail-over: " + rounds);
  }

  /** The first of a hundred that follow each other. */
  private static int freePorts() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return 21_000 + socket.getLocalPort() % 80 * 100;
    }
  }
}
