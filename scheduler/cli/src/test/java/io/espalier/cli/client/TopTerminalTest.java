package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The program itself on a real pseudo-terminal, which {@code script} of util-linux makes. */
class TopTerminalTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  // The first character of a line may come with the end of the one before it.
  private static final String NODES = "OTTEST NODES";
  private static final String LEFT = "\u001b[?1049l";

  private final FakeServer server =
      new FakeServer()
          .on(
              "GET /api/v1/jobs",
              "{'jobs':[{'name':'backup','valid':true,'enabled':true,'progress':{'total':4,'done':2}}]}")
          .on(
              "GET /api/v1/tree",
              "{'nodes':[{'name':'h1','level':'host','resources':[{'resource':'conn','used':2,"
                  + "'limit':2}],'states':{'waiting':1}}]}")
          .on(
              "GET /api/v1/jobs/backup/waiting",
              "{'reasons':[{'count':2,'message':'h1 has no free conn'}]}");
  private final StringBuilder screen = new StringBuilder();

  @AfterEach
  void stop() {
    server.close();
  }

  /** Prints the modes of the terminal, runs top, prints how it ended and the modes again. */
  private Process start(String arguments) throws IOException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    String command =
        // The shell must outlive the key that interrupts.
        "trap : INT; stty rows 24 cols 80; echo \"before $(stty -g)\"; "
            + "\""
            + java
            + "\" -XX:TieredStopAtLevel=1 -Despalier.terminal.out=true -Despalier.terminal.in=true"
            + " -cp \"$CLASS_PATH_OF_TEST\" io.espalier.cli.Main top "
            + arguments
            + "; echo \"code $?\"; echo \"after $(stty -g)\"";
    // Signals that are ignored, as below a shell in the background, would stay so.
    ProcessBuilder builder =
        new ProcessBuilder(
            "env", "--default-signal=INT,HUP", "script", "-qfec", command, "/dev/null");
    builder.environment().put("CLASS_PATH_OF_TEST", classPath());
    builder.environment().put("TERM", "xterm-256color");
    builder.environment().put("SHELL", "/bin/sh");
    builder.environment().put("ESPALIER_SERVER", server.url());
    builder.environment().remove("COLUMNS");
    builder.environment().remove("LINES");
    Process process = builder.redirectErrorStream(true).start();
    Thread reader = new Thread(() -> read(process.getInputStream()), "screen");
    reader.setDaemon(true);
    reader.start();
    return process;
  }

  /** Without what is for tests. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(entry -> !entry.endsWith("test") && !entry.endsWith("test-classes"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private void read(InputStream in) {
    byte[] bytes = new byte[8192];
    try {
      for (int n = in.read(bytes); n > 0; n = in.read(bytes)) {
        synchronized (screen) {
          screen.append(new String(bytes, 0, n, StandardCharsets.UTF_8));
        }
      }
    } catch (IOException e) {
      // The terminal is gone.
    }
  }

  private String seen() {
    synchronized (screen) {
      return screen.toString();
    }
  }

  private void awaitSeen(String text) {
    await().atMost(PATIENCE).until(() -> seen().contains(text));
  }

  private static void type(Process process, String keys) throws IOException {
    process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  private void assertEndedAsItBegan(Process process, int code) throws InterruptedException {
    awaitSeen("after ");
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    List<String> lines = seen().lines().toList();
    assertThat(seen()).contains(LEFT).contains("code " + code);
    assertThat(line(lines, "after ")).isEqualTo(line(lines, "before "));
  }

  private static String line(List<String> lines, String word) {
    return lines.stream()
        .filter(line -> line.contains(word))
        .map(line -> line.substring(line.indexOf(word) + word.length()).strip())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void itTakesTheScreenAnswersKeysAndGivesTheScreenBack() throws Exception {
    Process process = start("--every 0.2");
    awaitSeen(NODES);
    assertThat(seen()).contains("\u001b[?1049h", "ackup");
    type(process, "\r");
    awaitSeen("h1 has no free conn");
    type(process, "\u001b[B");
    type(process, "q");
    assertEndedAsItBegan(process, 0);
  }

  @Test
  void theKeyThatInterruptsGivesTheScreenBack() throws Exception {
    Process process = start("--every 0.2");
    awaitSeen(NODES);
    type(process, "\u0003");
    assertEndedAsItBegan(process, 130);
  }

  @Test
  void aSignalGivesTheScreenBack() throws Exception {
    Process process = start("--every 0.2");
    awaitSeen(NODES);
    process
        .descendants()
        .filter(child -> child.info().command().orElse("").endsWith("java"))
        .forEach(ProcessHandle::destroy);
    assertEndedAsItBegan(process, 143);
  }

  @Test
  void aServerThatIsNotThereIsSaidBeforeTheScreenIsTaken() throws Exception {
    Process process = start("--server 127.0.0.1:1");
    awaitSeen("after ");
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(seen())
        .contains("cannot reach the scheduler", "code 3")
        .doesNotContain("\u001b[?1049h");
  }
}
