package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.running.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class EspalierCommandTest {
  @Test
  void commandsLearnThatTheReaderOfTheirOutputIsGone() {
    PrintStream real = System.out;
    System.setOut(
        new PrintStream(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
              }
            }));
    try {
      PrintWriter out = EspalierCommand.line(Map.of()).getOut();
      out.println("JOB");
      assertThat(out.checkError()).isTrue();
    } finally {
      System.setOut(real);
    }
  }

  @Test
  void outputThatCannotBeWrittenIsAFailure() throws Exception {
    Process full = ended("/dev/full");
    assertThat(full.exitValue()).isEqualTo(1);
    assertThat(new String(full.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("espalier: cannot write the output: No space left on device\n");
    assertThat(ended("/dev/null").exitValue()).isZero();
  }

  private static Process ended(String output) throws Exception {
    Process process =
        new ProcessBuilder(JavaCommand.of(Main.class, "--version"))
            .redirectOutput(new File(output))
            .start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return process;
  }

  /** What a server says takes the same way. */
  @Test
  void aMessageDoesNotSteerTheTerminal() {
    StringWriter err = new StringWriter();
    CommandLine line = EspalierCommand.line(Map.of()).setErr(new PrintWriter(err, true));
    assertThat(line.execute("eta", "--server", "http://x\u001b[2J")).isEqualTo(2);
    assertThat(err.toString()).contains("\uFFFD[2J").doesNotContain("\u001b");
  }

  @Test
  void whatTheLocaleCannotReadIsRefusedBeforeAnythingIsAsked() {
    String[] args = {"explain", "j", "\uFFFD\uFFFD", "--server", "127.0.0.1:1"};
    assertThat(EspalierCommand.execute(args, Map.of())).isEqualTo(2);
  }
}
