package io.espalier.webui.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {
  @TempDir Path directory = Path.of("");

  private static AuditEntry entry(String target, String reason) {
    return new AuditEntry(
        0, 12, "ada", "admin", "10.0.0.1", "pause", target, reason, 200, Json.Obj.EMPTY);
  }

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static List<Long> ids(AuditLog log, long below, int limit) {
    return now(log.before(below, limit)).stream().map(AuditEntry::id).toList();
  }

  private static List<String> targets(AuditLog log) {
    return now(log.before(Long.MAX_VALUE, 1_000)).stream().map(AuditEntry::target).toList();
  }

  private FileAuditLog open() throws Exception {
    return FileAuditLog.open(directory, 1 << 20, 3);
  }

  @Test
  void entriesComeBackNewestFirstInPages() throws Exception {
    try (AuditLog file = open()) {
      for (AuditLog log : List.of(file, new MemoryAuditLog(100))) {
        assertThat(ids(log, Long.MAX_VALUE, 10)).isEmpty();
        for (int i = 1; i <= 5; i++) {
          now(log.append(entry("job" + i, "because")));
        }
        assertThat(ids(log, Long.MAX_VALUE, 2)).containsExactly(5L, 4L);
        assertThat(ids(log, 4, 2)).containsExactly(3L, 2L);
        assertThat(ids(log, 2, 2)).containsExactly(1L);
        assertThat(now(log.before(2, 1)).get(0)).isEqualTo(entry("job1", "because").withId(1));
        assertThat(log.problem()).isEmpty();
      }
    }
  }

  @Test
  void itGoesOnAfterARestartAndOnlyTheOwnerReadsIt() throws Exception {
    try (AuditLog log = open()) {
      now(log.append(entry("a", "")));
    }
    try (AuditLog log = open()) {
      now(log.append(entry("b", "")));
      assertThat(ids(log, Long.MAX_VALUE, 10)).containsExactly(2L, 1L);
    }
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve("audit.jsonl"))))
        .isEqualTo("rw-------");
  }

  @Test
  void namesCannotForgeLinesNorSpeakToTerminals() throws Exception {
    String hostile =
        "x\n{\"id\":9,\"who\":\"root\"}\r\u001b[31m\u0085\u2028\u202e\u009b\ufeff\"\\é";
    try (AuditLog log = open()) {
      now(log.append(entry(hostile, hostile)));
      now(log.append(entry("after", "")));
      assertThat(targets(log)).containsExactly("after", hostile);
    }
    List<String> lines = Files.readAllLines(directory.resolve("audit.jsonl"));
    assertThat(lines).hasSize(2);
    assertThat(lines)
        .allSatisfy(
            line -> {
              assertThat(JsonReader.parse(line).hasErrors()).isFalse();
              assertThat(line.chars())
                  .noneMatch(
                      c ->
                          Character.getType(c) == Character.CONTROL
                              || Character.getType(c) == Character.FORMAT);
            });
  }

  @Test
  void itIsBoundedAndPagesGoOnAcrossItsFiles() throws Exception {
    try (AuditLog log = FileAuditLog.open(directory, 2_000, 3)) {
      for (int i = 1; i <= 100; i++) {
        now(log.append(entry("job" + i, "x".repeat(100))));
      }
      List<Long> kept = new ArrayList<>();
      for (List<Long> page = ids(log, Long.MAX_VALUE, 4);
          !page.isEmpty();
          page = ids(log, kept.get(kept.size() - 1), 4)) {
        kept.addAll(page);
      }
      assertThat(kept.size()).isBetween(10, 40);
      for (int i = 0; i < kept.size(); i++) {
        assertThat(kept.get(i)).isEqualTo(100L - i);
      }
    }
    try (var files = Files.list(directory)) {
      assertThat(files.map(file -> String.valueOf(file.getFileName())).sorted())
          .containsExactly("audit.1.jsonl", "audit.2.jsonl", "audit.jsonl");
    }
    try (AuditLog log = FileAuditLog.open(directory, 2_000, 3)) {
      now(log.append(entry("more", "")));
      assertThat(ids(log, Long.MAX_VALUE, 1)).containsExactly(101L);
    }
  }

  @Test
  void numbersGoOnWhenTheNewestFileIsStillEmpty() throws Exception {
    try (AuditLog log = FileAuditLog.open(directory, 1, 2)) {
      now(log.append(entry("put aside at once", "")));
    }
    try (AuditLog log = FileAuditLog.open(directory, 1, 2)) {
      now(log.append(entry("next", "")));
      assertThat(ids(log, Long.MAX_VALUE, 10)).containsExactly(2L);
    }
  }

  @Test
  void aLineThatWasCutOffByACrashIsPassedOver() throws Exception {
    try (AuditLog log = open()) {
      now(log.append(entry("whole", "")));
    }
    Files.writeString(
        directory.resolve("audit.jsonl"),
        "{\"id\":2,\"at_ms\":1,\"wh",
        StandardCharsets.UTF_8,
        StandardOpenOption.APPEND);
    try (AuditLog log = open()) {
      now(log.append(entry("later", "")));
      assertThat(targets(log)).containsExactly("later", "whole");
    }
  }

  @Test
  void linesLongerThanWhatIsReadAtATimeComeBackWhole() throws Exception {
    String reason = "ä".repeat(90_000);
    try (AuditLog log = open()) {
      for (int i = 0; i < 4; i++) {
        now(log.append(entry("job" + i, reason)));
      }
      assertThat(now(log.before(Long.MAX_VALUE, 10)))
          .hasSize(4)
          .allSatisfy(entry -> assertThat(entry.reason()).isEqualTo(reason));
    }
  }

  @Test
  void whatCannotBeWrittenIsSaidUntilItCanBe() throws Exception {
    try (AuditLog log = FileAuditLog.open(directory, 1, 2)) {
      // Put aside at once, so that the next one needs a new file, where a directory is in the way.
      now(log.append(entry("a", "")));
      Path file = directory.resolve("audit.jsonl");
      Files.createDirectory(file);
      assertThatThrownBy(() -> now(log.append(entry("b", ""))))
          .hasRootCauseInstanceOf(IOException.class);
      assertThat(log.problem()).get().asString().contains("cannot be written");
      Files.delete(file);
      now(log.append(entry("c", "")));
      assertThat(log.problem()).isEmpty();
      assertThat(targets(log).get(0)).isEqualTo("c");
    }
  }

  @Test
  void afterTheEndNothingIsTaken() throws Exception {
    AuditLog log = open();
    log.close();
    assertThatThrownBy(() -> now(log.append(entry("late", "")))).hasMessageContaining("closed");
  }
}
