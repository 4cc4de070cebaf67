package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.RefusedException;
import io.espalier.webui.whatif.WhatIfRunner;
import io.espalier.webui.whatif.WhatIfRunner.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real children; a script stands for {@code espalier}. */
class WhatIfProcessesTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path directory = Path.of("");

  private WhatIfProcesses processes(String script, Duration within) throws Exception {
    return new WhatIfProcesses(launcher(script), within);
  }

  private Path launcher(String script) throws Exception {
    Path launcher = Files.writeString(directory.resolve("espalier"), "#!/bin/sh\n" + script);
    return Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
  }

  private static Ended ended(WhatIfRunner.Run run) throws Exception {
    return run.ended().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Runs a script that tells its process and then hangs. */
  private static String hanging(Path pid) {
    return "echo $$ >" + pid + ".new; mv " + pid + ".new " + pid + "; exec sleep 600";
  }

  private static ProcessHandle started(Path pid) throws Exception {
    await().atMost(LONG).until(() -> Files.exists(pid));
    return ProcessHandle.of(Long.parseLong(Files.readString(pid).trim())).orElseThrow();
  }

  private static void gone(ProcessHandle process) {
    await().atMost(LONG).until(() -> !process.isAlive());
  }

  @Test
  void aChildGetsItsInputItsArgumentsAndNothingElseOfOurs() throws Exception {
    try (WhatIfProcesses processes =
        processes(
            "printf '%s|' \"$@\"; nice; ulimit -t; cat /proc/$$/oom_score_adj; wc -c; env; echo x >&2",
            LONG)) {
      byte[] snapshot = new byte[1_000_000]; // more than a pipe holds
      Ended end = ended(processes.start(snapshot, List.of("--set=a b", "--set=$HOME")));
      assertThat(end.exitCode()).as(end.errors()).isZero();
      assertThat(end.errors()).isEqualTo("x\n");
      assertThat(end.exceeded()).isEmpty();
      assertThat(end.output())
          .startsWith("simulate|--json|--snapshot=-|--set=a b|--set=$HOME|19\n120\n")
          .containsPattern("\n1000\n1000000\n")
          .contains("ESPALIER_JAVA_OPTS=-Xmx512m", "JAVA_HOME=", "PATH=");
      assertThat(
              end.output()
                  .lines()
                  .filter(line -> line.contains("="))
                  .map(line -> line.split("=", 2)[0]))
          .doesNotContain("HOME", "ESPALIER_TOKEN", "USER");
    }
  }

  @Test
  void aChildThatTakesTooLongIsKilled() throws Exception {
    Path pid = directory.resolve("pid");
    try (WhatIfProcesses processes = processes(hanging(pid), Duration.ofSeconds(2))) {
      Ended end = ended(processes.start(new byte[0], List.of()));
      assertThat(end.exceeded()).isEqualTo("2 s");
      assertThat(end.exitCode()).isNotZero();
    }
  }

  @Test
  void aChildIsKilledOnDemandAndWithTheScheduler() throws Exception {
    Path pid = directory.resolve("pid");
    WhatIfProcesses processes = processes(hanging(pid), LONG);
    WhatIfRunner.Run run = processes.start(new byte[0], List.of());
    ProcessHandle first = started(pid);
    run.kill();
    assertThat(ended(run).exceeded()).isEmpty();
    gone(first);

    Files.delete(pid);
    WhatIfRunner.Run other = processes.start(new byte[0], List.of());
    ProcessHandle second = started(pid);
    processes.close();
    gone(second);
    assertThat(ended(other).exitCode()).isEqualTo(137);
    assertThatThrownBy(() -> processes.start(new byte[0], List.of()))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void whatGoesWrongIsTold() throws Exception {
    try (WhatIfProcesses processes = processes("exit 3", LONG)) {
      assertThat(ended(processes.start(new byte[0], List.of())).exceeded())
          .isEqualTo("512 MB of memory");
    }
    try (WhatIfProcesses processes = processes("echo 'espalier: no' >&2; exit 2", LONG)) {
      Ended end = ended(processes.start(new byte[1_000_000], List.of()));
      assertThat(end.exitCode()).isEqualTo(2);
      assertThat(end.errors()).isEqualTo("espalier: no\n");
    }
    try (WhatIfProcesses processes = processes("exec cat /dev/zero", LONG)) {
      assertThat(ended(processes.start(new byte[0], List.of())).exceeded()).contains("16 MiB");
    }
  }

  /** Only as many threads start as a host lets start that is at its limit. */
  private WhatIfProcesses withThreads(int most, Path pid) throws Exception {
    Path launcher = launcher(hanging(pid));
    AtomicInteger made = new AtomicInteger();
    return new WhatIfProcesses(
        launcher,
        Duration.ofMinutes(10),
        work -> {
          if (made.incrementAndGet() > most) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          return new Thread(work);
        });
  }

  @Test
  void aRunThatGetsNoThreadIsRefusedAndForgotten() throws Exception {
    try (WhatIfProcesses processes = withThreads(0, directory.resolve("pid"))) {
      assertThatThrownBy(() -> processes.start(new byte[0], List.of()))
          .isInstanceOf(RefusedException.class)
          .hasMessage("the simulation got no thread: unable to create native thread");
      assertThat(processes.running()).isZero();
    }
  }

  @Test
  void aChildWhoseErrorsNobodyCanReadIsKilled() throws Exception {
    Set<ProcessHandle> before = children();
    try (WhatIfProcesses processes = withThreads(1, directory.resolve("pid"))) {
      assertThatThrownBy(() -> ended(processes.start(new byte[0], List.of())))
          .hasRootCauseMessage("unable to create native thread");
      await().atMost(LONG).until(() -> before.containsAll(children()));
      await().atMost(LONG).until(() -> processes.running() == 0);
    }
  }

  private static Set<ProcessHandle> children() {
    return ProcessHandle.current().children().collect(Collectors.toSet());
  }
}
