package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class BackupCommandsTest {
  private static final String SOURCE = "file:site.json";

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Path site;
  private final Path data;
  private final Path copy;

  BackupCommandsTest(@TempDir Path site) {
    this.site = site;
    data = site.resolve("data");
    copy = site.resolve("copy.sqlite");
  }

  private int run(String command, Path dataDir, Path file) {
    CommandLine line = EspalierCommand.line(Map.of());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(command, "--data-dir", dataDir.toString(), file.toString());
  }

  @Test
  void aStoreInMySqlIsRefusedWithTheCommandsThatCopyIt() {
    CommandLine line =
        EspalierCommand.line(
            Map.of("ESPALIER_STATUS_STORE", "mysql://espalier@db.example:3307/my schema"));
    line.setErr(new PrintWriter(err, true));
    assertThat(line.execute("backup", "--data-dir", data.toString(), "x")).isEqualTo(2);
    assertThat(err.toString()).contains("is not of the form");
    for (String command : List.of("backup", "restore")) {
      assertThat(
              line.execute(
                  command,
                  "--status-store",
                  "mysql://espalier@db.example:3307/espalier",
                  "/b/it's.sql"))
          .isEqualTo(2);
    }
    assertThat(err.toString())
        .contains(
            ": mysqldump --single-transaction --no-tablespaces --skip-add-locks --host=db.example --port=3307"
                + " --user=espalier --password --result-file='/b/it'\\''s.sql' espalier",
            "stop all schedulers and workers, and then: mysql --host=db.example --port=3307"
                + " --user=espalier --password espalier < '/b/it'\\''s.sql'");
    assertThat(
            line.execute(
                "backup", "--data-dir", data.toString(), "--status-store", "memory", "/b/x"))
        .isEqualTo(2);
    assertThat(data).doesNotExist();
  }

  @Test
  void aStoreInADataDirectoryNeedsTheDirectory() {
    CommandLine line = EspalierCommand.line(Map.of());
    line.setErr(new PrintWriter(err, true));
    for (String command : List.of("backup", "restore")) {
      assertThat(line.execute(command, copy.toString())).isEqualTo(2);
    }
    assertThat(err.toString().lines())
        .hasSize(2)
        .allMatch(message -> message.contains("give --data-dir DIR, or "));
  }

  private static StatusStore open(Path dataDir) {
    return SqliteDialect.open(dataDir.resolve(DataDirectory.STATUSES), JsonReader.strict()::read);
  }

  private static void stored(StatusStore store, long epoch, String node) {
    store.commit(
        epoch,
        StoreTransaction.of(
            List.of(
                new StatusRow(
                    "j", node, TaskStatus.waiting(1000, 15, 1), new Invocation(epoch, 1, 0)))));
  }

  @Test
  void aDirectoryThatCannotBeAskedSaysWhatToDo() throws Exception {
    ClientOpener opener = new ClientOpener();
    Path nowhere = data.resolve("nowhere");
    assertThatThrownBy(() -> opener.dataDirectory(nowhere))
        .hasMessage("there is no directory " + nowhere);
    Path other = Files.createDirectories(data.resolve("other"));
    assertThatThrownBy(() -> opener.dataDirectory(other))
        .hasMessage(
            other
                + " is no data directory of a scheduler or a run; a run keeps its own in"
                + " .espalier/NAME");
    Path config =
        Files.writeString(
            site.resolve("site.json"),
            """
            {"bistro_settings": {"resources": {}, "nodes": {"levels": ["host"], "node_sources": [
              {"source": "manual", "prefs": {"h1": []}}]}}}
            """);
    try (DataDirectory live = DataDirectory.open(data.resolve("live"), config.toUri().toString())) {
      assertThatThrownBy(() -> opener.dataDirectory(live.root()))
          .hasMessageContaining("is in use by another Espalier (process ")
          .hasMessageEndingWith("; ask that one, with --server URL");
    }
  }

  @Test
  void aCopyOfALiveStoreBringsBackWhatItHad() throws Exception {
    try (DataDirectory live = DataDirectory.open(data, SOURCE);
        StatusStore store = open(data)) {
      assertThat(live.setBack()).isEmpty();
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      stored(store, epoch, "before");
      assertThat(run("backup", data, copy)).as(err::toString).isZero();
      assertThat(out.toString()).startsWith("copied 1 statuses of store ").contains("epoch 1");
      stored(store, epoch, "after");
      // A scheduler has the directory.
      assertThat(run("restore", data, copy)).isEqualTo(2);
      assertThat(err.toString()).contains("is in use by another Espalier");
      assertThat(store.load("j", List.of("before", "after"))).hasSize(2);
    }
    assertThat(run("restore", data, copy)).as(err::toString).isZero();
    assertThat(data.resolve("statuses.sqlite.replaced")).exists();
    try (DataDirectory again = DataDirectory.open(data, SOURCE);
        StatusStore store = open(data)) {
      assertThat(store.load("j", List.of("before", "after"))).hasSize(1);
      assertThat(again.setBack().orElseThrow()).contains("restored from copy.sqlite");
      assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(2);
    }
  }

  @Test
  void aLostDirectoryIsMadeAgain() throws Exception {
    aStore(data);
    assertThat(run("backup", data, copy)).isZero();
    Path fresh = site.resolve("fresh");
    assertThat(run("restore", fresh, copy)).as(err::toString).isZero();
    try (DataDirectory directory = DataDirectory.open(fresh, SOURCE)) {
      assertThat(directory.setBack()).isPresent();
    }
  }

  @Test
  void theCopyOfAnotherStoreIsRefused() throws Exception {
    Path other = site.resolve("other");
    aStore(data);
    aStore(other);
    assertThat(run("backup", other, copy)).isZero();
    assertThat(run("restore", data, copy)).isEqualTo(2);
    assertThat(err.toString()).contains("the copy is of another store");
    try (DataDirectory directory = DataDirectory.open(data, SOURCE)) {
      assertThat(directory.setBack()).isEmpty();
    }
  }

  @Test
  void whatIsNoWholeCopyIsRefused() throws Exception {
    aStore(data);
    assertThat(run("backup", data, copy)).isZero();
    assertThat(run("backup", data, copy)).isEqualTo(2);
    assertThat(err.toString()).contains("it exists already");
    byte[] bytes = Files.readAllBytes(copy);
    Path half = Files.write(site.resolve("half"), Arrays.copyOf(bytes, 6_000));
    assertThat(run("restore", data, half)).isEqualTo(2);
    assertThat(run("restore", data, Files.writeString(site.resolve("text"), "x"))).isEqualTo(2);
    assertThat(run("restore", data, site.resolve("none"))).isEqualTo(2);
    assertThat(err.toString()).contains("there is no file");
    try (DataDirectory directory = DataDirectory.open(data, SOURCE)) {
      assertThat(directory.setBack()).isEmpty();
    }
  }

  @Test
  void statusesThatWerePassedOnStayWhereTheyAre() throws Exception {
    aStore(data);
    assertThat(run("backup", data, copy)).isZero();
    try (DataDirectory directory = DataDirectory.open(data, SOURCE)) {
      directory.passOn();
    }
    assertThat(run("restore", data, copy)).isEqualTo(2);
    assertThat(err.toString()).contains("other schedulers have taken over the statuses");
  }

  private static void aStore(Path dataDir) throws IOException {
    try (DataDirectory directory = DataDirectory.open(dataDir, SOURCE);
        StatusStore store = open(directory.root())) {
      stored(store, store.openEpoch(TakeOver.PLAIN).epoch(), "n");
    }
  }
}
