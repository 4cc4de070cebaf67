package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.spawn.TaskEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  private static final Duration BOUND = Duration.ofSeconds(10);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @Test
  void whatHasNoEndIsLeft() throws IOException {
    try (Journal journal = Journal.lock(directory)) {
      journal.begin();
      journal.starting("1.1.5");
      journal.started(new Journal.Entry("1.1.5", 100, 7, 9));
      journal.starting("1.2.5");
      journal.ended("1.1.5");
      journal.starting("1.3.5");
      journal.started(new Journal.Entry("1.3.5", 102, 8, 15));
      Journal.Left left = journal.left();
      assertThat(left.cookie()).isEqualTo(journal.cookie()).hasSize(32);
      assertThat(left.entries())
          .containsExactly(
              new Journal.Entry("1.2.5", 0, 0), new Journal.Entry("1.3.5", 102, 8, 15));
    }
  }

  @Test
  void aJournalThatEndsInTheMiddleOfALineIsStillRead() {
    List<String> lines =
        List.of("c abc boot", "s 1.1.5", "p 1.1.5 100 7 9", "s 1.2.5", "p 1.2.5 10");
    assertThat(Journal.parse(lines).entries())
        .containsExactly(new Journal.Entry("1.1.5", 100, 7), new Journal.Entry("1.2.5", 0, 0));
    assertThat(Journal.parse(List.of("", "x", "p a b c d", "e")).entries())
        .containsExactly(new Journal.Entry("a", 0, 0));
    assertThat(Journal.parse(List.of()).entries()).isEmpty();
  }

  @Test
  void theFileStaysSmallAndKeepsWhatIsLive() throws IOException {
    try (Journal journal = Journal.lock(directory)) {
      journal.begin();
      journal.starting("live");
      journal.started(new Journal.Entry("live", 1, 2, 9));
      for (int i = 0; i < 20_000; i++) {
        journal.starting("i" + i);
        journal.started(new Journal.Entry("i" + i, i, i, 9));
        journal.ended("i" + i);
      }
      assertThat(Files.readAllLines(journal.file())).hasSizeLessThan(30_000);
      assertThat(journal.left().entries()).containsExactly(new Journal.Entry("live", 1, 2));
    }
  }

  @Test
  void processesOfTheRunAreKilledAndOthersAreNot() throws Exception {
    Process doomed = process("cookie1", "1.1.5");
    Process ofAnEndedInvocation = process("cookie1", "1.2.5");
    Process ofAnotherRun = process("cookie2", "1.1.5");
    try {
      Journal.Left left =
          new Journal.Left("cookie1", ProcFs.bootId(), List.of(new Journal.Entry("1.1.5", 0, 0)));
      assertThat(WorkerDirectory.killAll(left, BOUND).killedProcesses()).isEqualTo(2);
      await().until(() -> !doomed.isAlive() && !ofAnEndedInvocation.isAlive());
      assertThat(ofAnotherRun.isAlive()).isTrue();
    } finally {
      ofAnEndedInvocation.destroyForcibly();
      ofAnotherRun.destroyForcibly();
    }
  }

  @Test
  void aNumberThatBelongsToAnotherProcessNowIsLeftAlone() throws Exception {
    Process stranger = process("cookie2", "x");
    try {
      long ticks = ProcFs.stat(stranger.pid()).orElseThrow().startTicks();
      Journal.Left reused = left(stranger.pid(), ticks - 1);
      assertThat(WorkerDirectory.killAll(reused, BOUND).killedProcesses()).isZero();
      assertThat(stranger.isAlive()).isTrue();
      assertThat(WorkerDirectory.killAll(left(stranger.pid(), ticks), BOUND).killedProcesses())
          .isEqualTo(1);
    } finally {
      stranger.destroyForcibly();
    }
  }

  @Test
  void afterABootNothingCanBeLeft() throws IOException {
    Journal.Left left =
        new Journal.Left("cookie", "another boot", List.of(new Journal.Entry("a", 1, 1)));
    assertThat(WorkerDirectory.killAll(left, BOUND).killedProcesses()).isZero();
  }

  @Test
  void aDirectoryHasOneJournal() throws IOException {
    Journal first = Journal.lock(directory);
    assertThatThrownBy(() -> Journal.lock(directory)).isInstanceOf(IOException.class);
    first.close();
    Journal.lock(directory).close();
  }

  @Test
  void aProcessIsReadAsTheKernelTellsIt() throws IOException {
    ProcFs.Stat self = ProcFs.stat(ProcessHandle.current().pid()).orElseThrow();
    assertThat(self.isAlive()).isTrue();
    assertThat(self.startTicks()).isPositive();
    assertThat(ProcFs.stat(Long.MAX_VALUE)).isEqualTo(Optional.empty());
  }

  private static Journal.Left left(long pid, long ticks) {
    return new Journal.Left(
        "cookie", ProcFs.bootId(), List.of(new Journal.Entry("1.1.5", pid, ticks)));
  }

  private static Process process(String cookie, String invocation) throws IOException {
    ProcessBuilder builder = new ProcessBuilder("sleep", "300");
    builder.environment().put(TaskEnvironment.COOKIE_VARIABLE, cookie);
    builder.environment().put(TaskEnvironment.INVOCATION_VARIABLE, invocation);
    Process process = builder.start();
    await().until(() -> ProcFs.environment(process.pid()).contains(cookie));
    return process;
  }
}
