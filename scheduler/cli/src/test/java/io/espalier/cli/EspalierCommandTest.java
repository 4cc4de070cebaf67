package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
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

  /** What a server says takes the same way. */
  @Test
  void aMessageDoesNotSteerTheTerminal() {
    StringWriter err = new StringWriter();
    CommandLine line = EspalierCommand.line(Map.of()).setErr(new PrintWriter(err, true));
    assertThat(line.execute("eta", "--server", "http://x\u001b[2J")).isEqualTo(2);
    assertThat(err.toString()).contains("\uFFFD[2J").doesNotContain("\u001b");
  }
}
