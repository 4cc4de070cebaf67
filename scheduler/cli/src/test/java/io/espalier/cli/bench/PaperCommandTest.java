package io.espalier.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.server.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class PaperCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    CommandLine line = new CommandLine(new PaperCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  @Test
  void aTableHasALinePerPointAndPlotsAreWritten(@TempDir Path directory) throws IOException {
    Path plots = directory.resolve("a/b");
    int code =
        run("--figure", "c", "--scale", "0.001", "--clock", "none", "--out", plots.toString());
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(out.toString()).contains("Figure 4 (c)", "1.0000", "slots used").contains("3,000 ");
    assertThat(out.toString().lines().filter(line -> line.contains("3,000"))).hasSize(10);
    assertThat(err.toString()).contains("point 10 of 10");
    String svg = Files.readString(plots.resolve("figure-4c.svg"));
    assertThat(svg).startsWith("<svg").endsWith("</svg>\n").contains("concurrent jobs");
  }

  @Test
  void jsonIsOneObjectOnStandardOutput() {
    int code = run("--figure", "d", "--scale", "0.001", "--clock", "none", "--json");
    assertThat(code).isEqualTo(ExitCode.OK);
    Json.Obj read = (Json.Obj) Objects.requireNonNull(JsonReader.parse(out.toString()).value());
    assertThat(read.get("met")).isEqualTo(Json.of(true));
    assertThat(((Json.Arr) Objects.requireNonNull(read.get("points"))).items()).hasSize(10);
  }

  @ParameterizedTest
  @CsvSource({
    "--scale,0,above 0",
    "--scale,-1,above 0",
    "--scale,4,up to 3",
    "--scale,NaN,above 0",
    "--figure,e,'a, b, c, d or all'",
    "--clock,sun,--clock",
    "--seed,x,--seed"
  })
  void aBadOptionIsNamedAndNothingRuns(String option, String value, String says) {
    assertThat(run(option, value)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains(option, says);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aDirectoryThatCannotBeMadeIsSaidBeforeAnythingRuns(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    CommandLine line = new CommandLine(new PaperCommand());
    List<Exception> failures = new ArrayList<>();
    line.setErr(new PrintWriter(err, true));
    line.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          failures.add(failure);
          return ExitCode.USAGE;
        });
    assertThat(line.execute("--out", file.resolve("plots").toString())).isEqualTo(ExitCode.USAGE);
    assertThat(failures).singleElement().asString().contains("cannot make the directory");
    assertThat(err.toString()).doesNotContain("point 1");
  }
}
