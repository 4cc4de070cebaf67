package io.espalier.worker.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogRetention;
import io.espalier.core.logs.LogStore;
import io.espalier.testkit.running.LogStoreContract;
import io.espalier.testkit.running.MemoryLogStore;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentLogStoreTest extends LogStoreContract {
  private static final long NOW = 1_800_000_000_000L;

  /** Everything happens after a few lines. */
  private static final LogLimits SMALL =
      new LogLimits(2_000, 4_000, 20_000, 1 << 20, 1 << 20, 4 << 20, 3_000);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @Override
  protected LogStore create() throws IOException {
    return SegmentLogStore.open(directory.resolve("deep/er"));
  }

  @Test
  void linesAndTheirOrderSurviveARestartWithinTheSameSecond() throws IOException {
    Path logs = directory.resolve("again");
    for (int run = 0; run < 3; run++) {
      try (LogStore store = SegmentLogStore.open(logs)) {
        for (int i = 0; i < 100; i++) {
          store.append(i % 2 == 0 ? Stream.STDOUT : Stream.STATUSES, "job", "node", NOW, "line");
        }
      }
    }
    try (LogStore store = SegmentLogStore.open(logs)) {
      assertThat(all(store))
          .hasSize(300)
          .extracting(LogLine::id)
          .isSorted()
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void idsGrowAlsoWhenAllLinesWereDeletedBeforeARestart() throws IOException {
    Path logs = directory.resolve("ids");
    long last;
    try (LogStore store = SegmentLogStore.open(logs, SMALL)) {
      for (int i = 0; i < 2000; i++) {
        store.append(Stream.STDOUT, "job", "node", NOW, "line");
      }
      List<LogLine> lines = all(store);
      last = lines.get(lines.size() - 1).id();
      store.apply(new LogPolicy(new LogRetention(1, 0), List.of()));
      store.prune(NOW + 100_000);
      assertThat(all(store)).isEmpty();
    }
    try (LogStore store = SegmentLogStore.open(logs, SMALL)) {
      store.append(Stream.STDOUT, "job", "node", NOW, "new");
      assertThat(all(store)).last().extracting(LogLine::id).matches(id -> (long) id > last);
    }
  }

  /** The same lines and questions to this store, in small pieces and with restarts, and a list. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void answersAreThoseOfANaiveModel(long seed) throws IOException {
    Random random = new Random(seed);
    Path logs = directory.resolve("model");
    MemoryLogStore model = new MemoryLogStore();
    SegmentLogStore store = SegmentLogStore.open(logs, SMALL);
    LogPolicy policy =
        new LogPolicy(
            new LogRetention(20_000 + random.nextInt(60_000), 0),
            Map.of("b", new LogRetention(10_000, 0)),
            List.of(),
            Map.of());
    model.apply(policy);
    store.apply(policy);
    long now = NOW;
    long pruned = NOW;
    try {
      for (int round = 0; round < 12; round++) {
        for (int i = random.nextInt(400); i > 0; i--) {
          // The clock goes back now and then.
          now += random.nextInt(50) == 0 ? -random.nextInt(5000) : random.nextInt(300);
          LogEntry entry = entry(random, now);
          model.append(entry);
          store.append(entry);
        }
        if (random.nextInt(4) == 0) {
          store.close();
          store = SegmentLogStore.open(logs, SMALL);
          store.apply(policy);
          // As at every start.
          store.prune(pruned);
        }
        if (random.nextInt(4) == 0) {
          pruned = Math.max(pruned, now);
          model.prune(pruned);
          store.prune(pruned);
        }
        for (int question = 0; question < 8; question++) {
          LogQuery query = question(random, now);
          assertThat(pages(store, query)).as(query.toString()).isEqualTo(pages(model, query));
        }
      }
    } finally {
      store.close();
    }
  }

  private static LogEntry entry(Random random, long now) {
    String text = random.nextInt(9) + " " + "x".repeat(random.nextInt(100)) + "\n";
    return new LogEntry(
        List.of(Stream.values()).get(random.nextInt(3)),
        List.of("a", "b", "c/..").get(random.nextInt(3)),
        "node" + random.nextInt(20),
        "1." + random.nextInt(4),
        now,
        text);
  }

  private static LogQuery question(Random random, long now) {
    EnumSet<Stream> streams = EnumSet.noneOf(Stream.class);
    while (streams.isEmpty()) {
      for (Stream stream : Stream.values()) {
        if (random.nextBoolean()) {
          streams.add(stream);
        }
      }
    }
    long since = random.nextInt(3) == 0 ? now - random.nextInt(60_000) : 0;
    long until = random.nextInt(3) == 0 ? now - random.nextInt(60_000) : 0;
    return LogQuery.of(streams)
        .withJobs(random.nextBoolean() ? List.of() : List.of("b", "c/.."))
        .withNodes(random.nextBoolean() ? List.of() : List.of("node3", "node17"))
        .withInvocation(random.nextInt(4) == 0 ? "1.2" : "")
        .withFrom(random.nextInt(3) == 0 ? (now / 1000 - random.nextInt(60)) << 32 : -1)
        .withAscending(random.nextBoolean())
        .withLimit(1 + random.nextInt(60))
        .withTimes(since, until)
        .withRegex(random.nextInt(3) == 0 ? "^[135] x{10,}$" : "");
  }

  private static List<LogLine> pages(LogStore store, LogQuery query) {
    List<LogLine> lines = new ArrayList<>();
    long from = query.from();
    do {
      LogPage page = store.query(query.withFrom(from));
      assertThat(page.lines().size()).isLessThanOrEqualTo(query.limit());
      lines.addAll(page.lines());
      assertThat(page.nextId()).isNotEqualTo(from == -1 ? -2 : from);
      from = page.nextId();
    } while (from != LogPage.END);
    return lines;
  }

  @Test
  void aSearchInVainEndsEachCallAfterBoundedWorkAndGoesOnWhereItWas() throws IOException {
    try (SegmentLogStore store = SegmentLogStore.open(directory.resolve("vain"), SMALL)) {
      for (int i = 0; i < 5000; i++) {
        store.append(Stream.STDOUT, "job" + i % 3, "node", NOW + i, "hay " + i);
      }
      await().until(() -> store.stats().bufferedBytes() < 100_000);
      for (boolean ascending : new boolean[] {true, false}) {
        LogQuery query =
            LogQuery.of(Stream.STDOUT).withRegex("needle|hay 2500$").withAscending(ascending);
        LogPage first = store.query(query);
        assertThat(first.lines()).isEmpty();
        assertThat(first.nextId()).isPositive();
        assertThat(pages(store, query)).extracting(LogLine::text).containsExactly("hay 2500");
      }
    }
  }

  @Test
  void manyThreadsAppendAndNothingIsLost() throws Exception {
    try (SegmentLogStore store = SegmentLogStore.open(directory.resolve("threads"))) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        String node = "node" + t;
        threads.add(
            new Thread(
                () -> {
                  for (int i = 0; i < 10_000; i++) {
                    store.append(Stream.STDOUT, "job", node, System.currentTimeMillis(), "l" + i);
                  }
                }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      for (int t = 0; t < 4; t++) {
        LogPage page =
            store.query(
                LogQuery.of(Stream.STDOUT)
                    .withJobs(List.of("job"))
                    .withNodes(List.of("node" + t))
                    .withLimit(20_000));
        assertThat(page.lines()).hasSize(10_000);
        assertThat(page.lines().get(9999).text()).isEqualTo("l9999");
      }
      assertThat(store.stats().droppedLines()).isZero();
    }
  }

  @Test
  void retentionBySizeKeepsTheNewestLinesOfAJobAndOfAll() throws IOException {
    Path logs = directory.resolve("size");
    try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
      Random random = new Random(7);
      for (int i = 0; i < 20_000; i++) {
        String text = Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
        store.append(Stream.STDOUT, i % 2 == 0 ? "even" : "odd", "node", NOW + i, text);
      }
      await().until(() -> store.stats().bufferedBytes() < 50_000);
      long before = store.stats().storedBytes();
      store.apply(
          new LogPolicy(
              new LogRetention(0, 150_000),
              Map.of("even", new LogRetention(0, 30_000)),
              List.of(),
              Map.of()));
      store.prune(NOW);
      assertThat(store.stats().storedBytes()).isLessThan(180_000).isLessThan(before);
      List<LogLine> even = pages(store, LogQuery.of(Stream.STDOUT).withJobs(List.of("even")));
      List<LogLine> odd = pages(store, LogQuery.of(Stream.STDOUT).withJobs(List.of("odd")));
      assertThat(even.get(even.size() - 1).timeMillis()).isEqualTo(NOW + 19_998);
      assertThat(odd.get(odd.size() - 1).timeMillis()).isEqualTo(NOW + 19_999);
      assertThat(even).hasSizeBetween(200, 4000);
      assertThat(odd.size()).isGreaterThan(even.size());
    }
  }

  @Test
  void aJobWithoutLinesLeavesNothingBehind() throws IOException {
    Path logs = directory.resolve("empty");
    try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
      for (int i = 0; i < 1000; i++) {
        store.append(Stream.STDOUT, "../../job", "node", NOW, "line " + i);
      }
      await().until(() -> store.stats().files() > 1);
      try (var jobs = Files.list(logs.resolve("jobs"))) {
        assertThat(jobs).hasSize(1);
      }
      store.apply(new LogPolicy(new LogRetention(1, 0), List.of()));
      store.prune(NOW + 1000);
      try (var jobs = Files.list(logs.resolve("jobs"))) {
        assertThat(jobs).isEmpty();
      }
    }
    assertThat(directory.resolve("job")).doesNotExist();
  }

  /** Whatever a death in the middle of a write leaves: what was whole is there, nothing else. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void filesThatAreCutOffAnywhereGiveWhatIsWhole(long seed) throws IOException {
    Random random = new Random(seed);
    Path logs = directory.resolve("torn");
    int count = 3000;
    try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
      for (int i = 0; i < count; i++) {
        store.append(Stream.STDOUT, "job", "node", NOW, "line " + i);
      }
    }
    List<Path> growing = new ArrayList<>();
    try (var files = Files.walk(logs)) {
      files.filter(f -> f.toString().matches(".*\\.(open|wal)")).forEach(growing::add);
    }
    assertThat(growing).isNotEmpty();
    for (Path file : growing) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(random.nextInt((int) channel.size() + 1));
      }
    }
    for (int again = 0; again < 2; again++) {
      try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
        List<String> texts =
            pages(store, LogQuery.of(Stream.STDOUT)).stream()
                .map(LogLine::text)
                .filter(text -> text.startsWith("line"))
                .toList();
        Map<String, Integer> places = new HashMap<>();
        for (String text : texts) {
          assertThat(places.put(text, places.size())).isNull();
        }
        List<Integer> numbers = texts.stream().map(t -> Integer.parseInt(t.substring(5))).toList();
        assertThat(numbers).isSorted();
        store.append(Stream.STDOUT, "job", "node", NOW, "more");
        assertThat(pages(store, LogQuery.of(Stream.STDOUT)))
            .last()
            .extracting(LogLine::text)
            .isEqualTo("more");
      }
    }
  }

  @Test
  void aDamagedBlockHidesOnlyItsOwnLines() throws IOException {
    Path logs = directory.resolve("damaged");
    try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
      for (int i = 0; i < 3000; i++) {
        store.append(Stream.STDOUT, "job", "node", NOW, "line " + i);
      }
      await().until(() -> store.stats().files() > 2);
    }
    List<Path> full = new ArrayList<>();
    try (var files = Files.walk(logs)) {
      files.filter(f -> f.toString().endsWith(".seg")).sorted().forEach(full::add);
    }
    Path file = full.get(0);
    byte[] bytes = Files.readAllBytes(file);
    bytes[100] ^= 1;
    Files.write(file, bytes);
    try (SegmentLogStore store = SegmentLogStore.open(logs, SMALL)) {
      List<LogLine> left = pages(store, LogQuery.of(Stream.STDOUT));
      assertThat(left.size()).isBetween(1000, 2999);
      assertThat(left).last().extracting(LogLine::text).isEqualTo("line 2999");
    }
  }

  @Test
  void withoutRoomLinesAreStillTakenUpToTheLimitAndTheRestIsCounted() throws IOException {
    LogLimits tiny = new LogLimits(1 << 20, 1 << 20, 1 << 30, 10_000, 20_000, 40_000, 1 << 20);
    Path logs = directory.resolve("full");
    try (SegmentLogStore store = SegmentLogStore.open(logs, tiny)) {
      assertThat(store.hasRoom()).isTrue();
      // What is in memory does not become a block before 1 MiB: memory stays full.
      for (int i = 0; i < 500; i++) {
        store.append(Stream.STDOUT, "job", "node", NOW, "line " + i);
      }
      assertThat(store.stats().droppedLines()).isPositive();
      assertThat(store.stats().lines() + store.stats().droppedLines()).isEqualTo(500);
      await().until(store::hasRoom);
      store.append(Stream.STDOUT, "job", "node", NOW, "last");
      assertThat(pages(store, LogQuery.of(Stream.STDOUT)))
          .last()
          .extracting(LogLine::text)
          .isEqualTo("last");
    }
  }

  @Test
  void aPathThatCannotBeMadeIsRefusedByName() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThatThrownBy(() -> SegmentLogStore.open(file.resolve("below")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("below");
  }

  @Test
  void aFileThatIsNoneOfOursIsRefusedByNameAndStays() throws IOException {
    Path logs = Files.createDirectories(directory.resolve("foreign"));
    Path file = Files.writeString(logs.resolve("0000000000000001.wal"), "not lines\n".repeat(9));
    assertThatThrownBy(() -> SegmentLogStore.open(logs))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("0000000000000001.wal");
    assertThat(Files.readString(file)).startsWith("not lines");
  }

  private static List<LogLine> all(LogStore store) {
    return pages(store, LogQuery.of(EnumSet.allOf(Stream.class)).withLimit(1000));
  }
}
