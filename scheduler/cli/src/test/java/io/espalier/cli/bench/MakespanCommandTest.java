package io.espalier.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.server.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class MakespanCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    CommandLine line = new CommandLine(new MakespanCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  @Test
  void thereIsALinePerNumberOfJobsAndAPlot(@TempDir Path directory) throws IOException {
    assertThat(run("--hosts", "1", "--runs", "1", "--out", directory.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(out.toString().lines()).hasSize(13);
    assertThat(out.toString()).contains("roundrobin", "long_tail", "ranked_priority");
    assertThat(Files.readString(directory.resolve("figure-5.svg")))
        .startsWith("<svg")
        .contains("the paper's brute force", "fair_share");
  }

  @ParameterizedTest
  @CsvSource({"--hosts,0", "--hosts,4001", "--runs,0", "--runs,101"})
  void aBadOptionIsRefused(String option, String value) {
    assertThat(run(option, value)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("--hosts is from 1 to 4000");
    assertThat(out.toString()).isEmpty();
  }
}
