package io.espalier.e2e.drill;

import io.espalier.e2e.drill.RemoteDrill.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Many schedules of the drill on one cluster: {@code LongDrill [SCHEDULES [FIRST-SEED [WORKERS
 * [SITE]]]]}. Ends with 1 when there was a violation.
 */
public final class LongDrill {
  private LongDrill() {}

  public static void main(String[] args) throws Exception {
    int schedules = args.length > 0 ? Integer.parseInt(args[0]) : 200;
    long first = args.length > 1 ? Long.parseLong(args[1]) : 1;
    int workers = args.length > 2 ? Integer.parseInt(args[2]) : 4;
    Path site =
        args.length > 3
            ? Files.createDirectories(Path.of(args[3]).toAbsolutePath())
            : Files.createTempDirectory("espalier-drill-");
    String whyNot = Hosts.whyNoNamespaces();
    if (!whyNot.isEmpty()) {
      System.out.println(
          "LOOPBACK ONLY, NO LINK IS CUT: this machine has no namespaces: " + whyNot);
    }
    int bad = 0;
    long invocations = 0;
    long again = 0;
    long takenOver = 0;
    long slowest = 0;
    int basePort = 20_000 + (int) (ProcessHandle.current().pid() % 1_000) * 10;
    try (RemoteDrill drill = RemoteDrill.start(site, workers, whyNot.isEmpty(), basePort)) {
      for (long seed = first; seed < first + schedules; seed++) {
        // Every tenth is not random: a worker that is frozen beyond its lease, with long tasks.
        Outcome outcome = seed % 10 == 0 ? drill.freezeOne(seed) : drill.schedule(seed);
        invocations += outcome.invocations();
        again += outcome.again();
        takenOver += outcome.takenOver();
        slowest = Math.max(slowest, outcome.recoveryMillis());
        System.out.printf(
            "%s seed %d: %d faults, %d invocations, %d of them again, %d taken over from a frozen"
                + " worker, recovered in %d ms: %s%n",
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            seed,
            outcome.faults().size(),
            outcome.invocations(),
            outcome.again(),
            outcome.takenOver(),
            outcome.recoveryMillis(),
            outcome.violations().isEmpty() ? "ok" : "VIOLATED");
        if (!outcome.violations().isEmpty()) {
          bad++;
          outcome.faults().forEach(fault -> System.out.println("  " + fault));
          outcome.violations().forEach(violation -> System.out.println("  ! " + violation));
          System.out.println(drill.lastWords());
          drill.startAnew();
        }
      }
      System.out.printf("faults: %s%n", drill.faultsDone());
    }
    System.out.printf(
        "%d schedules, %d with violations; %d invocations, %d of them again, %d taken over from"
            + " frozen workers; slowest recovery %d ms; files in %s%n",
        schedules, bad, invocations, again, takenOver, slowest, site);
    System.exit(bad == 0 ? 0 : 1);
  }
}
