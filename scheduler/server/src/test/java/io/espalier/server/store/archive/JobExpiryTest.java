package io.espalier.server.store.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.testkit.running.JavaCommand;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a real store and real files; the scheduler does at once what it is asked. */
@SuppressWarnings("NullAway.Init")
class JobExpiryTest {
  private static final String SOURCE = "file:/config.json";
  private static final Duration KEEP = Duration.ofDays(90);
  private static final long NOW = 1_800_000_000_000L;
  private static final long DAY = 86_400_000;

  @TempDir private Path temp;
  private DataDirectory data;
  private StatusStore store;
  private long epoch;
  private long now = NOW;
  private final Set<String> configured = new HashSet<>();
  private final List<LoopInput.ForgetAbsent> forgotten = new ArrayList<>();

  @BeforeEach
  void open() {
    data = DataDirectory.open(temp, SOURCE);
    store = SqliteDialect.open(data.statusFile(), JsonReader.strict()::read);
    epoch = store.openEpoch(TakeOver.PLAIN).epoch();
  }

  @AfterEach
  void close() {
    store.close();
    data.close();
  }

  private void scheduler(LoopInput input) {
    if (input instanceof LoopInput.FindAbsent find) {
      Set<String> absent = new HashSet<>(find.jobs());
      absent.removeAll(configured);
      find.answer().complete(absent);
    } else if (input instanceof LoopInput.ForgetAbsent forget) {
      forgotten.add(forget);
      boolean absent = !configured.contains(forget.job());
      if (absent) {
        store.commit(epoch, StoreTransaction.builder().forget(forget.job()).build());
      }
      forget.answer().complete(absent);
    }
  }

  private void look() throws Exception {
    look(this::scheduler, StatusArchive.MOST_BYTES);
  }

  private void look(Consumer<LoopInput> loop, long mostBytes) throws Exception {
    new JobExpiry(
            store,
            epoch,
            new StatusArchive(data.archive(), mostBytes),
            loop,
            KEEP,
            () -> Instant.ofEpochMilli(now))
        .look();
  }

  private List<Path> files() throws Exception {
    try (Stream<Path> all = Files.list(data.archive())) {
      return all.sorted().toList();
    }
  }

  private static StatusRow row(String job, String node, Main main, long since) {
    return new StatusRow(
        job,
        node,
        TaskStatus.of(main, since, 3)
            .withData(Json.object().put("bytes", 4096).build())
            .withCheckpoint(Json.object().put("cursor", "ä\n").build()),
        new Invocation(1, 7, since - 10));
  }

  private void put(StatusRow... rows) {
    store.commit(epoch, StoreTransaction.of(List.of(rows)));
  }

  @Test
  void whatWasNotConfiguredForLongEnoughIsInAFileAndNotInTheStore() throws Exception {
    List<StatusRow> rows = new ArrayList<>();
    for (int i = 0; i < 1_234; i++) {
      rows.add(row("old", "n" + i, i % 3 == 0 ? Main.FAILED : Main.DONE, NOW - 400 * DAY));
    }
    Attempt attempt =
        Attempt.of(
            TaskResult.exited("old", "n7", new Invocation(1, 7, 5), "done", 0),
            1,
            WorkerRef.LOCAL,
            rows.get(7).status(),
            false,
            0,
            NOW);
    StoreTransaction.Builder batch = StoreTransaction.builder();
    rows.forEach(batch::put);
    store.commit(epoch, batch.attempt(attempt).incarnation("old", 5).build());
    put(row("stays", "n", Main.DONE, NOW - 400 * DAY));
    configured.add("stays");

    look();
    assertThat(store.absences()).as("not since it ended").isEqualTo(Map.of("old", NOW));
    now += KEEP.toMillis() - 1;
    look();
    assertThat(files()).isEmpty();
    now += 1;
    look();

    assertThat(store.jobs()).containsExactly("stays");
    assertThat(forgotten).hasSize(1);
    assertThat(forgotten.get(0).reason()).contains("2027");
    Path file = files().get(0);
    assertThat(files()).hasSize(1);
    assertThat(file.getFileName()).hasToString(forgotten.get(0).archive());
    List<StatusRow> read = new ArrayList<>();
    ArchiveFile.Content content = ArchiveFile.read(file, read::add);
    assertThat(content).isEqualTo(new ArchiveFile.Content("old", 5, 1_234));
    assertThat(read)
        .extracting(StatusRow::status)
        .containsExactlyInAnyOrderElementsOf(rows.stream().map(StatusRow::status).toList());
    assertThat(read).extracting(StatusRow::node).doesNotHaveDuplicates().contains("n7", "n1233");
  }

  @Test
  void aJobThatReturnsStartsTheTimeAnew() throws Exception {
    put(row("j", "n", Main.DONE, NOW));
    look();
    configured.add("j");
    now += KEEP.toMillis();
    look();
    assertThat(store.absences()).isEmpty();
    configured.clear();
    look();
    assertThat(store.absences()).isEqualTo(Map.of("j", now));
    assertThat(store.jobs()).containsExactly("j");
  }

  @Test
  void tasksThatRunOrHaveChangedLatelyKeepTheirJob() throws Exception {
    put(row("runs", "a", Main.RUNNING, NOW), row("runs", "b", Main.DONE, NOW));
    put(row("late", "a", Main.DONE, NOW), row("late", "b", Main.DONE, NOW + 2 * DAY));
    look();
    now += KEEP.toMillis() + DAY;
    look();
    assertThat(store.jobs()).containsExactlyInAnyOrder("runs", "late");
    assertThat(files()).isEmpty();
  }

  @Test
  void aJobThatReturnsWhileItIsArchivedIsNotForgotten() throws Exception {
    put(row("j", "n", Main.DONE, NOW));
    look();
    now += KEEP.toMillis() + 1;
    look(
        input -> {
          if (input instanceof LoopInput.ForgetAbsent) {
            configured.add("j");
          }
          scheduler(input);
        },
        StatusArchive.MOST_BYTES);
    assertThat(store.jobs()).containsExactly("j");
    assertThat(files()).isEmpty();
  }

  @Test
  void theOldestFilesGoWhenTheArchiveIsFull() throws Exception {
    for (String job : List.of("a", "b", "c")) {
      put(row(job, "n", Main.DONE, NOW));
    }
    look();
    now += KEEP.toMillis() + 1;
    look(this::scheduler, 1);
    assertThat(store.jobs()).isEmpty();
    assertThat(files()).hasSize(1);
    assertThat(ArchiveFile.read(files().get(0), row -> {}).job()).isEqualTo("c");
  }

  @Tag("slow")
  @Test
  void aKillBetweenTheFileAndTheDeletionLosesNothingAndWritesTheSameFileAgain() throws Exception {
    put(row("j", "n", Main.DONE, NOW), row("j", "m", Main.FAILED, NOW));
    look();
    close();
    Process process =
        new ProcessBuilder(JavaCommand.of(Archiving.class, temp.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(out.readLine()).isEqualTo("archived");
    } finally {
      process.destroyForcibly();
    }
    process.waitFor();
    open();
    now += KEEP.toMillis() + 2 * DAY;
    assertThat(files()).hasSize(1);
    assertThat(store.load("j", "", 10)).hasSize(2);
    look();
    assertThat(store.jobs()).isEmpty();
    assertThat(files()).hasSize(1);
    assertThat(ArchiveFile.read(files().get(0), row -> {}).tasks()).isEqualTo(2);
  }

  /** The process that is killed: its scheduler never answers that the statuses are deleted. */
  static final class Archiving {
    private Archiving() {}

    public static void main(String[] args) throws Exception {
      JobExpiryTest test = new JobExpiryTest();
      test.temp = Path.of(args[0]);
      test.open();
      test.now += KEEP.toMillis() + DAY;
      test.look(
          input -> {
            if (input instanceof LoopInput.ForgetAbsent) {
              System.out.println("archived");
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            }
            test.scheduler(input);
          },
          StatusArchive.MOST_BYTES);
    }
  }

  @Test
  void filesThatAreNoneOrDamagedAreRefusedWithTheLine() throws Exception {
    String head = "{\"espalier_archive\":1,\"job\":\"j\",\"create_time\":0}\n";
    String task =
        "{\"node\":\"n\",\"bits\":4,\"since_ms\":1,\"backoff_sec\":0,\"position\":0,\"attempts\":1,"
            + "\"started_at_ms\":1}\n";
    assertThat(read(head + task + "{\"tasks\":1}\n")).isEqualTo("j 1");
    assertThat(read("")).contains("line 1", "no archive");
    assertThat(read("{}\n")).contains("line 1", "no archive");
    assertThat(read("[]\n")).contains("line 1", "no JSON object");
    assertThat(read(head.replace(":1,", ":2,"))).contains("newer");
    assertThat(read(head.replace("\"j\"", "5"))).contains("job is no text");
    assertThat(read(head + task)).contains("line 3", "cut off");
    assertThat(read(head + task + "{\"tasks\":2}\n")).contains("line 3", "number of tasks");
    assertThat(read(head + task + "{\"tasks\":1}\n" + task)).contains("number of tasks");
    assertThat(read(head + task.replace(":4,", ":2,"))).contains("line 2", "running");
    assertThat(read(head + task.replace(":4,", ":999999999999,"))).contains("line 2");
    assertThat(read(head + task.replace("\"bits\":4", "\"bits\":1e999999"))).contains("line 2");
    assertThat(read(head + task.replace("\"n\"", "\"\""))).contains("line 2", "node");
    assertThat(read(head + task.replace(":1}", ":1,\"data\":[]}"))).contains("data is no object");
    assertThat(read(head + " ".repeat(9 << 20))).contains("line 2", "too long");
    Path text = temp.resolve("text");
    Files.writeString(text, head);
    assertThatThrownBy(() -> ArchiveFile.read(text, row -> {})).hasMessageContaining("GZIP");
    assertThatThrownBy(() -> ArchiveFile.read(temp, row -> {})).hasMessageContaining("not a file");
  }

  private String read(String text) throws Exception {
    Path file = temp.resolve("file.gz");
    try (Writer out =
        new OutputStreamWriter(
            new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8)) {
      out.write(text);
    }
    try {
      ArchiveFile.Content content = ArchiveFile.read(file, row -> {});
      return content.job() + " " + content.tasks();
    } catch (ArchiveFile.Unusable e) {
      return String.valueOf(e.getMessage());
    }
  }
}
