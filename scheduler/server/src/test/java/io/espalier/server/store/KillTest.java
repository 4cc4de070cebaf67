package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.testkit.running.JavaCommand;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** kill -9 of a real process in the middle of its commits. */
@Tag("slow")
class KillTest {
  private static final String SOURCE = "file:/config.json";

  @ParameterizedTest
  @ValueSource(ints = {1, 300, 3000})
  void what_was_acknowledged_is_there_after_kill_9_and_no_batch_is_in_halves(
      int acknowledgedBefore, @TempDir Path temp) throws Exception {
    Process process =
        new ProcessBuilder(JavaCommand.of(Committer.class, temp.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int acknowledged = -1;
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = out.readLine();
      while (line != null) {
        // The last line may be cut anywhere.
        if (line.matches("ack \\d+")) {
          acknowledged = Math.max(acknowledged, Integer.parseInt(line.substring(4)));
          if (acknowledged >= acknowledgedBefore) {
            // SIGKILL, by the handle: what the pipe still holds was acknowledged before.
            process.toHandle().destroyForcibly();
          }
        }
        line = out.readLine();
      }
    } finally {
      process.destroyForcibly();
    }
    process.waitFor();
    assertThat(acknowledged).isGreaterThanOrEqualTo(acknowledgedBefore);

    try (DataDirectory data = DataDirectory.open(temp, SOURCE);
        StatusStore store = SqliteDialect.open(data.statusFile(), JsonReader.strict()::read)) {
      store.bindSource(SOURCE);
      assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(2);
      Set<String> first = nodes(store, "first");
      assertThat(first).isEqualTo(nodes(store, "second"));
      assertThat(first.size()).isGreaterThan(acknowledged);
      for (int i = 0; i < first.size(); i++) {
        assertThat(first).contains("n" + i);
      }
      assertThat(store.newestEvent()).isEqualTo(first.size());
    }
  }

  private static Set<String> nodes(StatusStore store, String job) {
    Set<String> nodes = new HashSet<>();
    store.load(job, row -> nodes.add(row.node()));
    return nodes;
  }

  /** The process that is killed: commits as fast as it can and says what is durable. */
  static final class Committer {
    private Committer() {}

    public static void main(String[] args) throws Exception {
      DataDirectory data = DataDirectory.open(Path.of(args[0]), SOURCE);
      StatusStore store = SqliteDialect.open(data.statusFile(), JsonReader.strict()::read);
      store.bindSource(SOURCE);
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      StatusWriter writer =
          new StatusWriter(
              store,
              epoch,
              new StatusWriter.Limits(
                  1000, 50, Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(1)));
      writer.start();
      Semaphore room = new Semaphore(500);
      for (int i = 0; i < 10_000_000; i++) {
        int mine = i;
        room.acquire();
        TaskStatus done = TaskStatus.of(Main.DONE, i, 1);
        Invocation invocation = new Invocation(epoch, i, i);
        writer
            .submit(
                StoreTransaction.builder()
                    .put(new StatusRow("first", "n" + i, done, invocation))
                    .put(new StatusRow("second", "n" + i, done, invocation))
                    .append(new Event(i + 1, i, "task_ended", Json.Obj.EMPTY))
                    .build())
            .thenRun(
                () -> {
                  System.out.println("ack " + mine);
                  room.release();
                });
      }
    }
  }
}
