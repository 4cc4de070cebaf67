package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.testkit.running.JavaCommand;
import io.espalier.worker.call.SlowService.Reply;
import io.espalier.worker.cgroup.RealGroups;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of a process that gets no more threads; in a process of its own. */
@Tag("slow")
class CallsWithoutThreadsTest {
  /**
   * Makes a call for each line it gets, and says how it ended. Argument: the URL of the service.
   */
  static final class Caller extends CallExecutorFixture {
    public static void main(String[] args) throws Exception {
      Caller caller = new Caller();
      caller.open();
      System.out.println("ready");
      while (System.in.read() > 0) {
        caller.calls.start(caller.launch(Json.object().put("url", args[0] + "/run")));
        System.out.println(caller.end().kind());
      }
    }
  }

  @Test
  void aCallThatGetsNoThreadEndsAndLaterOnesAreMade() throws Exception {
    try (RealGroups groups = RealGroups.first("pids");
        SlowService service = new SlowService()) {
      service.answers("/run", Reply.of(200, ""));
      Path group = Files.createDirectory(groups.slice("pids").resolve("caller"));
      Process caller =
          new ProcessBuilder(
                  // The virtual machine itself grumbles when it cannot start a thread.
                  JavaCommand.of(List.of("-Xlog:disable"), Caller.class, service.url()))
              .start();
      try (BufferedReader answers = caller.inputReader(StandardCharsets.UTF_8)) {
        assertThat(answers.readLine()).isEqualTo("ready");
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(caller.pid()));
        Files.writeString(group.resolve("pids.max"), "1");
        caller.getOutputStream().write('\n');
        caller.getOutputStream().flush();
        assertThat(answers.readLine()).isEqualTo("NOT_STARTED");
        assertThat(service.requests("/run")).isEmpty();
        Files.writeString(group.resolve("pids.max"), "max");
        caller.getOutputStream().write('\n');
        caller.getOutputStream().flush();
        assertThat(answers.readLine()).isEqualTo("EXITED");
        assertThat(service.requests("/run")).hasSize(1);
      } finally {
        Files.writeString(group.resolve("pids.max"), "max");
        caller.destroyForcibly().waitFor();
      }
    }
  }
}
