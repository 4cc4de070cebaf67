package io.espalier.worker.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.testkit.running.LogStoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteLogStoreTest extends LogStoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @Override
  protected LogStore create() throws IOException {
    return SqliteLogStore.open(directory.resolve("deep/er/task_logs.sql3"));
  }

  @Test
  void linesAndTheirOrderSurviveARestartWithinTheSameSecond() throws IOException {
    Path file = directory.resolve("again.sql3");
    long now = 1_800_000_000_000L;
    for (int run = 0; run < 3; run++) {
      try (LogStore store = SqliteLogStore.open(file)) {
        for (int i = 0; i < 100; i++) {
          store.append(i % 2 == 0 ? Stream.STDOUT : Stream.STATUSES, "job", "node", now, "line");
        }
      }
    }
    List<LogLine> lines = new ArrayList<>();
    try (LogStore store = SqliteLogStore.open(file)) {
      for (Stream stream : Stream.values()) {
        LogPage page =
            store.query(new LogQuery(stream, List.of(), List.of(), -1, true, 1000, null));
        lines.addAll(page.lines());
      }
    }
    assertThat(lines).hasSize(300).extracting(LogLine::id).doesNotHaveDuplicates();
  }

  @Test
  void manyThreadsAppendAndNothingIsLost() throws Exception {
    try (SqliteLogStore store = SqliteLogStore.open(directory.resolve("threads.sql3"))) {
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
                new LogQuery(
                    Stream.STDOUT, List.of("job"), List.of("node" + t), -1, true, 20_000, null));
        assertThat(page.lines()).hasSize(10_000);
        assertThat(page.lines().get(9999).text()).isEqualTo("l9999");
      }
      assertThat(store.droppedLines()).isZero();
    }
  }

  @Test
  void aFileThatIsNoDatabaseIsRefusedByName() throws IOException {
    Path file = Files.writeString(directory.resolve("notes.txt"), "not a database\n".repeat(100));
    assertThatThrownBy(() -> SqliteLogStore.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("notes.txt");
    assertThat(Files.readString(file)).startsWith("not a database");
  }

  @Test
  void aPathThatCannotBeMadeIsRefusedByName() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThatThrownBy(() -> SqliteLogStore.open(file.resolve("below.sql3")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("below.sql3");
  }
}
