package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.worker.cgroup.RealGroups;
import io.espalier.worker.process.kill.JournalKiller.Found;
import io.espalier.worker.process.kill.JournalKiller.Reach;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import io.espalier.worker.process.output.Channel;
import io.espalier.worker.process.spawn.NativeProcesses;
import io.espalier.worker.process.spawn.ProcessBackend;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a journal names is found and killed, with real processes; what cannot be seen is unknown.
 */
class JournalKillerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String COOKIE = "fedcba9876543210-of-the-killer-test";
  private static final String INVOCATION = "1.1.7";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final List<ProcessHandle> toEnd = new ArrayList<>();

  @AfterEach
  void end() {
    toEnd.forEach(ProcessHandle::destroyForcibly);
  }

  private Process start(String... command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    toEnd.add(process.toHandle());
    return process;
  }

  private long number(Path file) {
    await().atMost(PATIENCE).until(() -> Files.exists(file) && Files.size(file) > 1);
    try {
      long pid = Long.parseLong(Files.readString(file).strip());
      ProcessHandle.of(pid).ifPresent(toEnd::add);
      return pid;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long ticks(long pid) throws IOException {
    return ProcFs.stat(pid).orElseThrow().startTicks();
  }

  private static boolean isDead(long pid) throws IOException {
    return ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isEmpty();
  }

  private static Journal.Left left(List<Journal.Entry> entries, List<Journal.Group> groups) {
    return new Journal.Left(COOKIE, ProcFs.bootId(), "", 0, entries, groups);
  }

  private static void killAll(Journal.Left left) {
    JournalKiller killer = new JournalKiller();
    await()
        .atMost(PATIENCE)
        .until(() -> killer.round(left, Reach.RUN, of -> Signals.KILL).isNothing());
  }

  @Test
  void aChildInTheGroupOfALeaderThatIsGoneIsKilledWhateverItsEnvironment() throws Exception {
    Path pid = directory.resolve("pid");
    Process leader =
        start("setsid", "sh", "-c", "env -i sleep 300 & echo $! > " + pid + "; read line");
    long child = number(pid);
    await().atMost(PATIENCE).until(() -> ProcFs.environment(child).isEmpty());
    Journal.Entry entry = new Journal.Entry(INVOCATION, leader.pid(), ticks(leader.pid()));
    leader.getOutputStream().close();
    assertThat(leader.waitFor()).isNotNegative();
    assertThat(isDead(child)).isFalse();
    killAll(left(List.of(entry), List.of()));
    assertThat(isDead(child)).isTrue();
  }

  @Test
  void aFrozenGroupIsThawedAndKilled() throws Exception {
    try (RealGroups groups = RealGroups.first("freezer")) {
      Path group = Files.createDirectory(groups.slice("freezer").resolve("task"));
      Process stray = start("setsid", "env", "-i", "sleep", "300");
      Files.writeString(group.resolve("cgroup.procs"), Long.toString(stray.pid()));
      Files.writeString(group.resolve("freezer.state"), "FROZEN");
      try {
        stray.destroyForcibly();
        assertThat(isDead(stray.pid())).isFalse();
        killAll(left(List.of(), List.of(new Journal.Group(INVOCATION, group))));
        assertThat(isDead(stray.pid())).isTrue();
      } finally {
        Files.writeString(group.resolve("freezer.state"), "THAWED");
        stray.waitFor();
      }
    }
  }

  /** The files of version 2, without a kernel behind them. */
  private Path secondVersion(long member) throws IOException {
    Path slice = Files.createDirectory(directory.resolve("slice"));
    Files.writeString(slice.resolve("cgroup.controllers"), "");
    Path group = Files.createDirectory(slice.resolve("task"));
    Files.writeString(group.resolve("cgroup.procs"), member + "\n");
    Files.writeString(group.resolve("cgroup.events"), "populated 1\nfrozen 1\n");
    return group;
  }

  @Test
  void version2IsKilledByItsOwnFile() throws Exception {
    Path group = secondVersion(ProcessHandle.current().pid());
    Files.writeString(group.resolve("cgroup.kill"), "");
    Journal.Left left = left(List.of(), List.of(new Journal.Group(INVOCATION, group)));
    Found found = new JournalKiller().round(left, Reach.RUN, of -> Signals.KILL);
    assertThat(found.alive()).containsKey(ProcessHandle.current().pid());
    assertThat(group.resolve("cgroup.kill")).hasContent("1");
  }

  @Test
  void version2WithoutThatFileIsFrozenKilledAndThawed() throws Exception {
    Process stray = start("setsid", "env", "-i", "sleep", "300");
    Path group = secondVersion(stray.pid());
    Files.writeString(group.resolve("cgroup.freeze"), "0");
    Journal.Left left = left(List.of(), List.of(new Journal.Group(INVOCATION, group)));
    new JournalKiller().round(left, Reach.RUN, of -> Signals.KILL);
    assertThat(stray.waitFor()).isEqualTo(128 + 9);
    assertThat(group.resolve("cgroup.freeze")).hasContent("0");
  }

  @Test
  void aStartThatHasNotCalledExecIsKilled() throws Exception {
    Path gate = directory.resolve("gate");
    assertThat(start("mkfifo", gate.toString()).waitFor()).isZero();
    Process task = start("true");
    NativeProcesses processes = NativeProcesses.open(gate, JournalKiller.starterName(COOKIE));
    try {
      AtomicReference<String> failure = new AtomicReference<>("");
      // It waits in open() until somebody writes into the gate: before its exec.
      processes.spawn(
          new ProcessBackend.Spawn(
              Path.of("/bin/sleep"),
              List.of("sleep", "300"),
              List.of(),
              directory,
              false,
              false,
              directory.resolve("status"),
              null),
          new StartOnly(failure));
      Journal.Left left = left(List.of(new Journal.Entry(INVOCATION, 0, 0)), List.of());
      await()
          .atMost(PATIENCE)
          .until(() -> !JournalKiller.find(left, Reach.INVOCATIONS).alive().isEmpty());
      // A sweep for another task, which has been started, leaves it alone.
      Journal.Entry other = new Journal.Entry("2.2.2", task.pid(), 1);
      assertThat(JournalKiller.find(left(List.of(other), List.of()), Reach.INVOCATIONS).alive())
          .isEmpty();
      killAll(left);
      assertThat(failure.get()).doesNotContain("started");
    } finally {
      processes.close();
    }
  }

  private record StartOnly(AtomicReference<String> what) implements ProcessBackend.Events {
    @Override
    public void started(ProcessBackend.Child child) {
      what.set("started " + child.pid());
    }

    @Override
    public void failed(String cause, boolean shortage) {
      what.set(cause);
    }

    @Override
    public void output(Channel channel, byte[] bytes, int length) {}

    @Override
    public void closed(Channel channel) {}

    @Override
    public void exited(ProcessBackend.Exit exit) {}
  }

  @Test
  void aGroupThatCannotBeReadIsUnknown() throws Exception {
    Path group = Files.createDirectory(directory.resolve("group"));
    Files.createDirectory(group.resolve("cgroup.procs"));
    Journal.Left left = left(List.of(), List.of(new Journal.Group(INVOCATION, group)));
    Found found = new JournalKiller().round(left, Reach.RUN, of -> Signals.KILL);
    assertThat(found.isNothing()).isFalse();
    assertThat(found.unknown()).anyMatch(what -> what.contains(group.toString()));
    assertThat(found.toString()).startsWith("unknown: control group");
  }

  /** Run by {@link #withoutDescriptorsNothingIsTakenForGone}: says what it finds. */
  static final class Looker {
    private Looker() {}

    public static void main(String[] args) throws IOException {
      Journal.Left left =
          new Journal.Left(args[0], ProcFs.bootId(), List.of(new Journal.Entry(INVOCATION, 0, 0)));
      Found before = JournalKiller.find(left, Reach.RUN);
      List<Closeable> open = new ArrayList<>();
      try {
        while (true) {
          open.add(new FileInputStream("/dev/null"));
        }
      } catch (IOException e) {
        Found found = JournalKiller.find(left, Reach.RUN);
        for (Closeable one : open) {
          one.close();
        }
        System.out.println(before.isNothing() + " " + found.isNothing() + " " + found);
      }
    }
  }

  @Test
  void withoutDescriptorsNothingIsTakenForGone() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process looker =
        start(
            "sh",
            "-c",
            "ulimit -n 300; exec \"$@\"",
            "sh",
            java,
            "-XX:-MaxFDLimit",
            "-cp",
            System.getProperty("java.class.path"),
            Looker.class.getName(),
            "nobody has this cookie");
    String said =
        new String(looker.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(said).startsWith("true false unknown: ");
  }

  @Test
  void whatGetsAnotherSignalThanKillKeepsItsGroups() {
    Journal.Left left =
        Journal.parse(
            List.of(
                "c " + COOKIE + " boot",
                "n pid:[1] 4711",
                "s 1.1.5",
                "g 1.1.5 /a",
                "p 1.1.5 100 7 15",
                "s 1.2.5",
                "g 1.2.5 /b",
                "p 1.2.5 101 8 9"));
    assertThat(left.sinceTicks()).isEqualTo(4711);
    assertThat(left.killed().entries()).containsExactly(new Journal.Entry("1.2.5", 101, 8));
    assertThat(left.killed().groups()).containsExactly(new Journal.Group("1.2.5", Path.of("/b")));
  }
}
