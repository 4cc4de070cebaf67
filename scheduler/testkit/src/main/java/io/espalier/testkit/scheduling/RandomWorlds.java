package io.espalier.testkit.scheduling;

import io.espalier.core.scheduling.Replay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Random runs of the core by their seeds, and the seeds that a test run takes. As a program, {@code
 * [--kinds SMALL,SCARCE] [--seeds N] [--from N] [--progress FILE]} runs the seeds {@code from} to
 * {@code from + N - 1} of each kind in turn and prints each that fails. It records the progress of
 * each kind in the file and continues from there when it is started again. The exit code is 1 when
 * a seed failed.
 */
public final class RandomWorlds {
  /** The property that names the first seed. */
  public static final String FROM = "espalier.seeds.from";

  private static final int BATCH = 20;

  /** More seeds than any kind takes in one test run. */
  private static final long SEEDS_PER_DAY = 10_000;

  /** The kinds of random runs, by their sizes. */
  public enum Kind {
    /** Few jobs and nodes, with a full comparison after each step. */
    SMALL(RunSize.SMALL),
    /** Jobs that wait for each other's slots. */
    SCARCE(new RunSize(6, 8, 120, 10, true, false)),
    /** Enough jobs for more than one word of bits. */
    MANY_JOBS(new RunSize(90, 5, 25)),
    /** Rows with summaries. */
    WIDE(new RunSize(4, 150, 25)),
    /** Nodes that are closed, and limits that are lowered by factors. */
    CLOSING(new RunSize(6, 8, 60, 1, false, true)),
    /** The same, where jobs wait for each other's slots. */
    SCARCE_CLOSING(new RunSize(6, 8, 120, 10, true, true)),
    /** Redundancy groups. */
    GROUPED(RunSize.GROUPED),
    /** Batches, where nodes are closed and limits lowered. */
    BATCHED(new RunSize(6, 8, 60, 1, false, true, false, true, false, false)),
    /** Batches, over redundancy groups. */
    BATCHED_GROUPS(new RunSize(6, 8, 120, 4, false, false, true, true, false, false)),
    /** Tasks that are done and have to be verified. */
    VERIFIED(new RunSize(6, 8, 60, 1, false, true, false, false, true, false)),
    /** Tasks that wait for the stages of roll-outs. */
    STAGED(new RunSize(6, 8, 60, 1, false, true, false, false, true, true));

    @SuppressWarnings("ImmutableEnumChecker") // It is immutable: numbers only.
    private final RunSize size;

    Kind(RunSize size) {
      this.size = size;
    }
  }

  private RandomWorlds() {}

  /**
   * Returns the first seed of a test run: the value of the property {@value #FROM}; without it
   * 10,000 times the number of days between 1970-01-01 and today (UTC), so that each day tests
   * seeds that no earlier day has tested.
   */
  public static long firstSeed() {
    Long given = Long.getLong(FROM);
    return given == null ? firstSeed(LocalDate.now(ZoneOffset.UTC)) : given;
  }

  public static long firstSeed(LocalDate day) {
    return day.toEpochDay() * SEEDS_PER_DAY;
  }

  /**
   * Runs one seed, and replays the recording.
   *
   * @throws AssertionError naming the seed, its kind, and the first difference
   */
  public static RandomRun run(long seed, Kind kind) {
    try {
      RandomRun run =
          new RandomRun(seed, kind.size, List.of(TestPolicies.IN_TURN, TestPolicies.ONE_BY_ONE));
      Replay.Summary replayed = run.replay(run.recording().iterator());
      if (replayed.placements() != run.placements().size()
          || replayed.events() != run.recording().size()) {
        throw new AssertionError("the replay was shorter: " + replayed);
      }
      return run;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + " of " + kind + ": " + e.getMessage(), e);
    }
  }

  /** Runs many seeds. */
  public static void main(String[] args) {
    List<Kind> kinds = List.of(Kind.values());
    long seeds = 20_000;
    long from = 0;
    Path progress = null;
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException("no value for " + args[i]);
      }
      String value = args[i + 1];
      switch (args[i]) {
        case "--kinds" -> kinds = kinds(value);
        case "--seeds" -> seeds = Long.parseLong(value);
        case "--from" -> from = Long.parseLong(value);
        case "--progress" -> progress = Path.of(value);
        default -> throw new IllegalArgumentException("unknown flag " + args[i]);
      }
    }
    System.exit(runAll(kinds, from, from + seeds, progress) ? 0 : 1);
  }

  private static List<Kind> kinds(String names) {
    List<Kind> kinds = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      kinds.add(Kind.valueOf(name.toUpperCase(Locale.ROOT)));
    }
    return kinds;
  }

  /** Runs a batch of each kind in turn, so that an interrupted run has covered all kinds. */
  private static boolean runAll(List<Kind> kinds, long from, long end, @Nullable Path progress) {
    Properties next = load(progress);
    long failures = 0;
    boolean goesOn = true;
    while (goesOn) {
      goesOn = false;
      for (Kind kind : kinds) {
        long first = Long.parseLong(next.getProperty(kind.name(), String.valueOf(from)));
        long last = Math.min(first + BATCH, end);
        for (long seed = first; seed < last; seed++) {
          failures += passes(seed, kind) ? 0 : 1;
        }
        if (first < last) {
          next.setProperty(kind.name(), String.valueOf(last));
          goesOn = true;
        }
      }
      save(next, progress);
    }
    for (Kind kind : kinds) {
      System.out.println(kind + ": seeds up to " + next.getProperty(kind.name()) + " are done");
    }
    System.out.println(failures + " failed in this run");
    return failures == 0;
  }

  private static boolean passes(long seed, Kind kind) {
    try {
      run(seed, kind);
      return true;
    } catch (AssertionError e) {
      System.out.println("FAILED: " + e.getMessage());
      return false;
    }
  }

  private static Properties load(@Nullable Path progress) {
    Properties next = new Properties();
    if (progress != null && Files.exists(progress)) {
      try (var in = Files.newBufferedReader(progress, StandardCharsets.UTF_8)) {
        next.load(in);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return next;
  }

  private static void save(Properties next, @Nullable Path progress) {
    if (progress != null) {
      try (var out = Files.newBufferedWriter(progress, StandardCharsets.UTF_8)) {
        next.store(out, "the next seed of each kind");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
