package io.espalier.worker.logs;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.testkit.running.JavaCommand;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A kill -9 of the process that writes loses what it had not written yet, and nothing else. */
class LogCrashTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whatWasWrittenSurvivesAndTheRestLeavesNoTrace(long seed) throws Exception {
    Random random = new Random(seed);
    long next = 0;
    for (int life = 0; life < 3; life++) {
      long safe = writeAndDie(next, next + 5_000 + random.nextInt(25_000));
      List<LogLine> lines = read();
      long[] numbers =
          lines.stream().mapToLong(line -> Long.parseLong(line.text().strip())).toArray();
      assertThat(Arrays.equals(numbers, LongStream.range(0, numbers.length).toArray()))
          .as("every line once, in order")
          .isTrue();
      assertThat((long) numbers.length).isGreaterThanOrEqualTo(safe);
      assertThat(lines.stream().mapToLong(LogLine::id).distinct().count()).isEqualTo(lines.size());
      next = numbers.length;
    }
  }

  /** How many lines the process had said were safe. */
  private long writeAndDie(long first, long until) throws Exception {
    Process process =
        new ProcessBuilder(
                JavaCommand.of(LogWriterProcess.class, directory.toString(), Long.toString(first)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      long safe = 0;
      for (String line = said.readLine(); line != null && safe < until; line = said.readLine()) {
        if (line.startsWith("safe ")) {
          safe = Long.parseLong(line.substring(5));
        }
      }
      assertThat(safe).isGreaterThanOrEqualTo(until);
      return safe;
    } finally {
      process.destroyForcibly();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  private List<LogLine> read() throws Exception {
    try (SegmentLogStore store = SegmentLogStore.open(directory)) {
      LogPage page = store.query(LogQuery.of(Stream.STDOUT).withLimit(1_000_000));
      assertThat(page.nextId()).isEqualTo(LogPage.END);
      return page.lines();
    }
  }
}
