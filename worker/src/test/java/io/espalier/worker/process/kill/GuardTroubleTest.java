package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.testkit.running.JavaCommand;
import io.espalier.worker.cgroup.RealGroups;
import io.espalier.worker.process.os.ProcFs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A guard that is hindered: stopped, killed, without processes; and whom it kills nevertheless. */
@Tag("slow")
class GuardTroubleTest {
  private static final String COOKIE = "abcdef0123456789-of-the-trouble-test";
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final long LONG_MILLIS = 600_000;

  /** What lines of the other process begin with. */
  private static final String ANSWER = "guard: ";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final List<ProcessHandle> toEnd = new ArrayList<>();

  @AfterEach
  void end() {
    for (ProcessHandle process : toEnd) {
      process.destroyForcibly();
    }
    await().atMost(PATIENCE).until(() -> toEnd.stream().noneMatch(ProcessHandle::isAlive));
  }

  private Path gate() {
    return directory.resolve("lease");
  }

  private Path journal() {
    return directory.resolve("journal");
  }

  private Process start(String... command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    toEnd.add(process.toHandle());
    return process;
  }

  private Process task() throws IOException {
    Process task = start("setsid", "env", "-i", "sleep", "300");
    write("s 1.1.7", "p 1.1.7 " + task.pid() + " " + ticks(task) + " 9");
    return task;
  }

  private void write(String... lines) throws IOException {
    Files.writeString(
        journal(), "c " + COOKIE + " " + ProcFs.bootId() + "\n" + String.join("\n", lines) + "\n");
  }

  private static long ticks(Process process) throws IOException {
    return ProcFs.stat(process.pid()).orElseThrow().startTicks();
  }

  private static void lease(LeaseGuard guard, long millis) {
    guard.lease(ProcFs.uptimeTicks() + millis / 10, System.currentTimeMillis() + millis);
  }

  private LeaseGuard guard() throws IOException {
    LeaseGuard guard = LeaseGuard.start(journal(), COOKIE, gate());
    ProcessHandle.of(guard.pid()).ifPresent(toEnd::add);
    return guard;
  }

  private void awaitAnother(LeaseGuard guard, long pid) {
    await().atMost(PATIENCE).until(() -> guard.pid() != pid && guard.problem().isEmpty());
    ProcessHandle.of(guard.pid()).ifPresent(toEnd::add);
  }

  @Test
  void aStoppedGuardIsNoticedAndReplaced() throws Exception {
    Process task = task();
    try (LeaseGuard guard = guard()) {
      lease(guard, LONG_MILLIS);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      long stopped = guard.pid();
      assertThat(start("kill", "-STOP", Long.toString(stopped)).waitFor()).isZero();
      await().atMost(PATIENCE).until(() -> guard.problem().contains("no guard"));
      awaitAnother(guard, stopped);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      assertThat(task.isAlive()).isTrue();
      lease(guard, 100);
      await().atMost(PATIENCE).until(() -> !task.isAlive());
    }
  }

  @Test
  void signalsThatEndAWorkerDoNotEndItsGuard() throws Exception {
    Process task = task();
    try (LeaseGuard guard = guard()) {
      lease(guard, LONG_MILLIS);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      long first = guard.pid();
      for (String signal : List.of("-TERM", "-INT", "-HUP")) {
        assertThat(start("kill", signal, Long.toString(first)).waitFor()).isZero();
      }
      guard.sync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(guard.pid()).isEqualTo(first);
      assertThat(task.isAlive()).isTrue();
    }
  }

  /** It came late, and another run has the directory by now. */
  @Test
  void theProcessesOfALaterRunAreLeftAlone() throws Exception {
    try (LeaseGuard guard = guard()) {
      write("s 9.9.9");
      lease(guard, LONG_MILLIS);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      Process later = start("setsid", "env", "-i", "sleep", "300");
      Files.writeString(
          journal(),
          "c another-run "
              + ProcFs.bootId()
              + "\np 1.1.7 "
              + later.pid()
              + " "
              + ticks(later)
              + " 9\n");
      lease(guard, 100);
      await().atMost(PATIENCE).until(() -> !Files.exists(gate()));
      guard.sync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(later.isAlive()).isTrue();
    }
  }

  @Test
  void aJournalThatCannotBeReadMayNameProcessesSoTheGuardGoesOnLooking() throws Exception {
    try (LeaseGuard guard = guard()) {
      lease(guard, LONG_MILLIS);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      Files.createDirectory(journal());
      lease(guard, 100);
      await().atMost(PATIENCE).until(() -> guard.problem().contains("directory"));
      Files.delete(journal());
      Process task = task();
      await().atMost(PATIENCE).until(() -> !task.isAlive());
    }
  }

  @Test
  void aStrayInAFrozenGroupDiesWithTheLease() throws Exception {
    try (RealGroups groups = RealGroups.first("freezer");
        LeaseGuard guard = guard()) {
      Path group = Files.createDirectory(groups.slice("freezer").resolve("task"));
      Process stray = start("setsid", "env", "-i", "sleep", "300");
      Files.writeString(group.resolve("cgroup.procs"), Long.toString(stray.pid()));
      Files.writeString(group.resolve("freezer.state"), "FROZEN");
      try {
        write("s 1.1.7", "g 1.1.7 " + group, "p 1.1.7 1 1 9");
        lease(guard, 100);
        await().atMost(PATIENCE).until(() -> !stray.isAlive());
      } finally {
        Files.writeString(group.resolve("freezer.state"), "THAWED");
        stray.destroyForcibly().waitFor();
      }
    }
  }

  /** A worker's part: its guard, and what it says of it. Commands on stdin. */
  static final class Worker {
    private Worker() {}

    public static void main(String[] args) throws IOException {
      LeaseGuard guard = LeaseGuard.start(Path.of(args[0]), args[1], Path.of(args[2]));
      PrintStream out = System.out;
      Scanner in = new Scanner(System.in, StandardCharsets.UTF_8);
      while (in.hasNextLine()) {
        String command = in.nextLine();
        if (command.startsWith("lease ")) {
          lease(guard, Long.parseLong(command.substring(6)));
        }
        out.println(ANSWER + guard.pid() + " " + guard.problem());
      }
    }
  }

  /** Such a process, with pipes. */
  private final class Remote {
    private final Process process;
    private final BufferedReader answers;

    Remote() throws IOException {
      process =
          start(
              JavaCommand.of(Worker.class, journal().toString(), COOKIE, gate().toString())
                  .toArray(String[]::new));
      answers = process.inputReader(StandardCharsets.UTF_8);
    }

    String ask(String command) throws IOException {
      process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      // The virtual machine itself may grumble here when it cannot start a thread.
      String line = answers.readLine();
      while (line != null && !line.startsWith(ANSWER)) {
        line = answers.readLine();
      }
      return line == null ? "" : line.substring(ANSWER.length());
    }

    long guardPid() throws IOException {
      long pid = Long.parseLong(ask("who").split(" ", 2)[0]);
      ProcessHandle.of(pid).ifPresent(toEnd::add);
      return pid;
    }
  }

  @Test
  void aGuardThatCannotBeReplacedIsMissedUntilItCan() throws Exception {
    try (RealGroups groups = RealGroups.first("pids")) {
      Process task = task();
      Path group = Files.createDirectory(groups.slice("pids").resolve("worker"));
      Remote worker = new Remote();
      worker.ask("lease " + LONG_MILLIS);
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      long guard = worker.guardPid();
      try {
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(worker.process.pid()));
        Files.writeString(group.resolve("pids.max"), "1");
        ProcessHandle.of(guard).ifPresent(ProcessHandle::destroyForcibly);
        await().atMost(PATIENCE).until(() -> worker.ask("").contains("cannot be started"));
        assertThat(gate()).doesNotExist();
        assertThat(task.isAlive()).isTrue();
        Files.writeString(group.resolve("pids.max"), "max");
        await().atMost(PATIENCE).until(() -> worker.ask("").matches("\\d+ "));
        assertThat(worker.guardPid()).isNotEqualTo(guard);
        worker.ask("lease 100");
        await().atMost(PATIENCE).until(() -> !task.isAlive());
      } finally {
        Files.writeString(group.resolve("pids.max"), "max");
        end();
      }
    }
  }

  @Test
  void aGuardOnAHostWithoutProcessesKillsForAStoppedWorker() throws Exception {
    try (RealGroups groups = RealGroups.first("pids")) {
      Process task = task();
      Path group = Files.createDirectory(groups.slice("pids").resolve("worker"));
      Remote worker = new Remote();
      worker.ask("lease 4000");
      await().atMost(PATIENCE).until(() -> Files.exists(gate()));
      try {
        for (long pid : List.of(worker.process.pid(), worker.guardPid())) {
          Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
        }
        Files.writeString(group.resolve("pids.max"), "1");
        assertThat(start("kill", "-STOP", Long.toString(worker.process.pid())).waitFor()).isZero();
        await().atMost(PATIENCE).until(() -> !task.isAlive());
        assertThat(gate()).doesNotExist();
      } finally {
        Files.writeString(group.resolve("pids.max"), "max");
        end();
      }
    }
  }
}
