package io.espalier.core.purity;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Logger;
import org.assertj.core.api.Assertions;

/** One class per way to be impure; each must be caught. Nothing here is ever run. */
final class Impure {
  static final Class<?>[] ALL = {
    ReadsFiles.class,
    ReadsStreams.class,
    OpensSockets.class,
    UsesDatabases.class,
    Logs.class,
    Prints.class,
    ReadsTheClock.class,
    ReadsTheMonotonicClock.class,
    ReadsAnInstant.class,
    ReadsADate.class,
    ReadsTheZone.class,
    ReadsTheEnvironment.class,
    StartsThreads.class,
    UsesPools.class,
    Locks.class,
    LocksMethods.class,
    StartsProcesses.class,
    RunsElsewhere.class,
    RunsInParallel.class,
    SeedsItself.class,
    SplitsItself.class,
    UsesThreadRandom.class,
    UsesMathRandom.class,
    MakesUuids.class,
    Shuffles.class,
    UsesLibraries.class,
  };

  private Impure() {}

  static final class ReadsFiles {
    boolean it(java.nio.file.Path path) {
      return path.isAbsolute();
    }
  }

  static final class ReadsStreams {
    int it(java.io.InputStream in) throws java.io.IOException {
      return in.read();
    }
  }

  static final class OpensSockets {
    String it(java.net.URI uri) {
      return uri.getPath();
    }
  }

  static final class UsesDatabases {
    String it(java.sql.SQLException e) {
      return e.getSQLState();
    }
  }

  static final class Logs {
    void it(Logger logger) {
      logger.info("it");
    }
  }

  static final class Prints {
    @SuppressWarnings("SystemOut")
    void it() {
      System.out.println("it");
    }
  }

  static final class ReadsTheClock {
    long it() {
      return System.currentTimeMillis();
    }
  }

  static final class ReadsTheMonotonicClock {
    long it() {
      return System.nanoTime();
    }
  }

  static final class ReadsAnInstant {
    Instant it() {
      return Instant.now();
    }
  }

  static final class ReadsADate {
    LocalDate it(ZoneId zone) {
      return LocalDate.now(zone);
    }
  }

  static final class ReadsTheZone {
    ZoneId it() {
      return ZoneId.systemDefault();
    }
  }

  static final class ReadsTheEnvironment {
    String it() {
      return System.getProperty("it", "");
    }
  }

  static final class StartsThreads {
    Thread it(Runnable task) {
      return new Thread(task);
    }
  }

  static final class UsesPools {
    void it(ExecutorService pool) {
      pool.shutdown();
    }
  }

  static final class Locks {
    boolean it(ReentrantLock lock) {
      return lock.isLocked();
    }
  }

  static final class LocksMethods {
    synchronized int it() {
      return 1;
    }
  }

  static final class StartsProcesses {
    ProcessBuilder it() {
      return new ProcessBuilder("true");
    }
  }

  static final class RunsElsewhere {
    CompletableFuture<Integer> it() {
      return CompletableFuture.supplyAsync(() -> 1);
    }
  }

  static final class RunsInParallel {
    long it(List<String> list) {
      return list.parallelStream().count();
    }
  }

  static final class SeedsItself {
    int it() {
      return new Random().nextInt();
    }
  }

  static final class SplitsItself {
    int it() {
      return new SplittableRandom().nextInt();
    }
  }

  static final class UsesThreadRandom {
    int it() {
      return ThreadLocalRandom.current().nextInt();
    }
  }

  static final class UsesMathRandom {
    double it() {
      return Math.random();
    }
  }

  static final class MakesUuids {
    UUID it() {
      return UUID.randomUUID();
    }
  }

  static final class Shuffles {
    void it(List<String> list) {
      Collections.shuffle(list);
    }
  }

  static final class UsesLibraries {
    void it(int value) {
      Assertions.assertThat(value).isPositive();
    }
  }

  /** What the core may do. */
  static final class NotAtAll {
    long it(Instant now, long seed, List<String> list) {
      Collections.shuffle(list, new Random(seed));
      return now.plusSeconds(new SplittableRandom(seed).nextInt(7)).toEpochMilli();
    }
  }
}
