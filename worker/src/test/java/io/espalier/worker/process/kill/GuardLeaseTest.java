package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The guard of a worker, alone: what it does with leases (docs/design/design.md#clocks-of-a-lease).
 */
class GuardLeaseTest {
  private static final String COOKIE = "0123456789abcdef-of-the-guard-test";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long LONG_MILLIS = 600_000;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @SuppressWarnings("NullAway.Init")
  private LeaseGuard guard;

  @SuppressWarnings("NullAway.Init")
  private Process task;

  @BeforeEach
  void start() throws Exception {
    ProcessBuilder builder = new ProcessBuilder("sleep", "300");
    builder.environment().put("ESPALIER_TASK_COOKIE", COOKIE);
    builder.environment().put("ESPALIER_TASK_INVOCATION", "1.1.7");
    task = builder.start();
    Files.writeString(directory.resolve("journal"), "c " + COOKIE + " boot\ns 1.1.7\n");
    guard = LeaseGuard.start(directory.resolve("journal"), COOKIE, gate());
    awaitAnswer();
  }

  @AfterEach
  void end() {
    signal("-CONT");
    guard.close();
    task.destroyForcibly();
  }

  private Path gate() {
    return directory.resolve("lease");
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(guard.pid())).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static long uptimeHundredths() throws IOException {
    String text = Files.readString(Path.of("/proc/uptime"), StandardCharsets.US_ASCII);
    return Math.round(Double.parseDouble(text.substring(0, text.indexOf(' '))) * 100);
  }

  private void lease(long millis) throws IOException {
    lease(millis, millis);
  }

  private void lease(long byUptime, long byClock) throws IOException {
    guard.lease(uptimeHundredths() + byUptime / 10, System.currentTimeMillis() + byClock);
  }

  private void awaitAnswer() throws Exception {
    guard.sync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private void awaitKill() {
    await().atMost(PATIENCE).until(() -> !task.isAlive());
    assertThat(gate()).doesNotExist();
  }

  @Test
  void aLeaseOpensTheGateAndItsEndClosesItAndKills() throws Exception {
    lease(LONG_MILLIS);
    awaitAnswer();
    assertThat(gate()).exists();
    assertThat(task.isAlive()).isTrue();
    lease(300);
    awaitKill();
  }

  @Test
  void whicheverClockIsFirstEndsTheLease() throws Exception {
    lease(LONG_MILLIS, 300);
    awaitKill();
  }

  @Test
  void aClockThatWasSetBackDoesNotProlongIt() throws Exception {
    lease(300, LONG_MILLIS);
    awaitKill();
  }

  @Test
  void aGuardThatWasLateHeedsWhatWasRenewedMeanwhile() throws Exception {
    lease(LONG_MILLIS);
    awaitAnswer();
    signal("-STOP");
    // Far more than it could act upon one by one, each of them over by the time it is read.
    for (int i = 0; i < 400; i++) {
      lease(1);
    }
    lease(LONG_MILLIS);
    signal("-CONT");
    awaitAnswer();
    assertThat(task.isAlive()).isTrue();
    assertThat(gate()).exists();
  }

  @Test
  void aGuardThatWasLateKillsWhenNothingWasRenewed() throws Exception {
    lease(500);
    awaitAnswer();
    signal("-STOP");
    await().pollDelay(Duration.ofMillis(600)).until(() -> true);
    signal("-CONT");
    awaitKill();
  }

  @Test
  void aQuestionIsAnsweredOnlyAfterTheKilling() throws Exception {
    lease(500);
    awaitAnswer();
    signal("-STOP");
    await().pollDelay(Duration.ofMillis(600)).until(() -> true);
    var answer = guard.sync();
    signal("-CONT");
    answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(task.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(gate()).doesNotExist();
  }

  @Test
  void aNewLeaseAfterTheKillingOpensTheGateAgain() throws Exception {
    lease(100);
    awaitKill();
    lease(LONG_MILLIS);
    awaitAnswer();
    assertThat(gate()).exists();
  }
}
