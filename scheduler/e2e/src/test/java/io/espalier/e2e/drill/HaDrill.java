package io.espalier.e2e.drill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * Three schedulers, five workers, three servers of ZooKeeper, a database; the leader is killed with
 * -9 or frozen again and again while tasks run: {@code HaDrill [ROUNDS [SEED [mysql|store|sqlite
 * [STATUSES [SITE]]]]]}; with {@code store} the database elects, and there is no ZooKeeper.
 * Measured is the time from the blow to the first start by another leader, as the tasks themselves
 * write it down; it may be 15 s. No worker dies, so each task must start once and end once, and
 * that is what is looked at in the end. Ends with 1 when it is not so.
 *
 * <p>STATUSES is how many tasks of other jobs have been done before, which each leader has to load.
 * With SQLite there are none, and no leader is frozen: it would keep the files.
 */
public final class HaDrill implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Duration FINISH_WITHIN = Duration.ofMinutes(30);

  /** From the blow to the first start by another leader. */
  private static final Duration FAIL_OVER_WITHIN = Duration.ofSeconds(15);

  private static final Duration LOOK_EVERY = Duration.ofMillis(50);
  private static final int TASKS_PER_ROUND = 500;
  private static final int HOST_TASKS = 20;

  private final HaCluster cluster;
  private final Random random;
  private final boolean freezes;
  private final List<Round> rounds = new ArrayList<>();

  /**
   * What came of one blow.
   *
   * @param how {@code kill} or {@code freeze}
   * @param millis to the first start by another leader
   */
  record Round(String how, long millis) {}

  HaDrill(HaCluster cluster, long seed, boolean freezes) {
    this.cluster = cluster;
    this.random = new Random(seed);
    this.freezes = freezes;
  }

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 50;
    long seed = args.length > 1 ? Long.parseLong(args[1]) : 1;
    HaCluster.Kind kind =
        args.length > 2
            ? HaCluster.Kind.valueOf(args[2].toUpperCase(Locale.ROOT))
            : HaCluster.Kind.MYSQL;
    int statuses = args.length > 3 ? Integer.parseInt(args[3]) : 0;
    Path site =
        args.length > 4
            ? Files.createDirectories(Path.of(args[4]).toAbsolutePath())
            : Files.createTempDirectory("espalier-ha-");
    int basePort = 21_000 + (int) (ProcessHandle.current().pid() % 80) * 100;
    List<String> wrong;
    List<Round> all;
    int hosts = Math.max(5, rounds * TASKS_PER_ROUND / HOST_TASKS);
    try (HaDrill drill =
        new HaDrill(
            new HaCluster(site, kind, new HaCluster.Size(3, 5, hosts, statuses), basePort),
            seed,
            kind != HaCluster.Kind.SQLITE)) {
      drill.begin();
      for (int i = 1; i <= rounds; i++) {
        Round round = drill.round(i % 2 == 0);
        System.out.printf(
            "round %d: %s, first start after %d ms%n", i, round.how(), round.millis());
      }
      wrong = drill.finish();
      all = drill.rounds;
    }
    for (String how : List.of("kill", "freeze")) {
      System.out.println(distribution(how, all));
    }
    wrong.stream().limit(50).forEach(each -> System.out.println("! " + each));
    System.out.printf("%d rounds, %d violations; files in %s%n", rounds, wrong.size(), site);
    System.exit(wrong.isEmpty() ? 0 : 1);
  }

  static String distribution(String how, List<Round> rounds) {
    long[] times =
        rounds.stream().filter(round -> round.how().equals(how)).mapToLong(Round::millis).toArray();
    Arrays.sort(times);
    return times.length == 0
        ? how + ": none"
        : "%s: %d times; least %d, median %d, 90%% %d, most %d ms"
            .formatted(
                how,
                times.length,
                times[0],
                times[times.length / 2],
                times[Math.min(times.length - 1, times.length * 9 / 10)],
                times[times.length - 1]);
  }

  /** Waits until tasks run. */
  void begin() {
    await("tasks run", () -> lines().stream().anyMatch(line -> line.startsWith("E ")));
  }

  /**
   * Strikes the leader once all can lead, and mends what it broke.
   *
   * @param freeze SIGSTOP, where that can be survived; else kill -9
   */
  Round round(boolean freeze) throws InterruptedException {
    await(
        "all could lead",
        () -> cluster.candidates(cluster.leader()) == cluster.schedulers().size());
    // At a moment that nobody can foresee, or when nothing is left to be disturbed.
    boolean unused =
        Patience.until(
            Duration.ofMillis(500 + random.nextInt(3_000)),
            LOOK_EVERY,
            () -> cluster.done(cluster.leader()) >= cluster.tasks());
    int leader = cluster.leader();
    Part struck = cluster.schedulers().get(leader);
    long epoch = newestEpoch();
    long at = System.currentTimeMillis();
    boolean freezing = freeze && freezes;
    if (freezing) {
      struck.freeze();
    } else {
      struck.kill();
    }
    await("another starts tasks", () -> newestEpoch() > epoch);
    long first =
        lines().stream()
            .map(line -> line.split(" ", -1))
            .filter(words -> words[0].equals("S") && epoch(words[1]) > epoch)
            .mapToLong(words -> Long.parseLong(words[4]))
            .min()
            .orElseThrow();
    if (freezing) {
      // It wakes up as a leader that does not know yet that it is none.
      struck.thaw();
    } else {
      struck.start();
    }
    Round round = new Round(freezing ? "freeze" : "kill", first - at);
    rounds.add(round);
    return round;
  }

  /** Waits for the end of all tasks; what was wrong. */
  List<String> finish() {
    if (!Patience.until(
        FINISH_WITHIN, LOOK_EVERY, () -> cluster.done(cluster.leader()) >= cluster.tasks())) {
      return List.of(
          "only "
              + cluster.done(cluster.leader())
              + " of "
              + cluster.tasks()
              + " are done\n"
              + cluster.lastWords());
    }
    return violations();
  }

  private List<String> violations() {
    List<String> wrong = new ArrayList<>();
    rounds.stream()
        .filter(round -> round.millis() > FAIL_OVER_WITHIN.toMillis())
        .forEach(round -> wrong.add("took longer than " + FAIL_OVER_WITHIN + ": " + round));
    wrong.addAll(cluster.work().violations(cluster.tasks()));
    return wrong;
  }

  private long newestEpoch() {
    return lines().stream()
        .filter(line -> line.startsWith("S "))
        .mapToLong(line -> epoch(line.split(" ", -1)[1]))
        .max()
        .orElse(0);
  }

  private static long epoch(String token) {
    return Long.parseLong(token.substring(0, token.indexOf('.')));
  }

  private List<String> lines() {
    return cluster.work().lines();
  }

  private void await(String what, BooleanSupplier condition) {
    if (!Patience.until(PATIENCE, LOOK_EVERY, condition::getAsBoolean)) {
      throw new IllegalStateException("in vain: " + what + "\n" + cluster.lastWords());
    }
  }

  @Override
  public void close() throws IOException {
    cluster.close();
  }
}
