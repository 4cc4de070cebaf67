package io.espalier.server.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.scheduling.CoreEvent;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingTest {
  private static final Duration PATIENCE = Duration.ofMillis(200);

  private final Random random = new Random(7);

  /** Cannot be compressed much. */
  private CoreEvent event(int number) {
    StringBuilder job = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      job.append((char) ('!' + random.nextInt(90)));
    }
    return new CoreEvent.Placed(number, job.toString(), "node", Integer.toString(number));
  }

  private static List<String> lines(byte[] file) throws IOException {
    List<String> lines = new ArrayList<>();
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(new ByteArrayInputStream(file)), StandardCharsets.UTF_8))) {
      in.lines().forEach(lines::add);
    }
    return lines;
  }

  /** A disk that takes nothing until it is told to. */
  private static final class Stuck extends OutputStream {
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      // The first ones are the head of the format, written by whoever opens it.
      if (taken.size() >= 10) {
        try {
          goOn.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      taken.write(bytes, from, length);
    }
  }

  @Test
  void aFullDiskEndsTheRecordingAndSaysSo() throws IOException {
    // There is room for the head of the format.
    OutputStream full = new BufferedOutputStream(Files.newOutputStream(Path.of("/dev/full")));
    try (Recording recording =
        Recording.to(Path.of("run.rec"), full, 1, List.of(), 1_000, PATIENCE)) {
      assertThat(recording.problem()).isEmpty();
      for (int i = 0; i < 100; i++) {
        recording.recorded(event(i));
      }
      // Nothing came for a second: what there is is written.
      await().until(() -> recording.problem().isPresent());
      assertThat(recording.problem().orElseThrow())
          .contains("run.rec", "No space left on device", "the scheduler goes on");
      // Nobody waits for it any more: there is room for a thousand.
      for (int i = 0; i < 10_000; i++) {
        recording.recorded(event(i));
      }
    }
  }

  @Test
  void aSlowDiskMakesTheCoreWaitButNotForEver() throws IOException {
    Stuck stuck = new Stuck();
    int accepted = 0;
    try (Recording recording =
        Recording.to(Path.of("run.rec"), stuck, 1, List.of(), 100, PATIENCE)) {
      while (recording.problem().isEmpty()) {
        recording.recorded(event(accepted++));
      }
      assertThat(recording.problem().orElseThrow()).contains("the disk is too slow: 100 events");
      stuck.goOn.countDown();
    }
    // What had been taken by then is there, without a gap; the last one was not.
    List<String> lines = lines(stuck.taken.toByteArray());
    assertThat(lines).hasSize(1 + accepted - 1);
    for (int i = 1; i < lines.size(); i++) {
      assertThat(lines.get(i)).startsWith("[\"start\",").endsWith("\"" + (i - 1) + "\"]");
    }
  }

  @Test
  void allThatWasRecordedIsThereOnceItIsClosed(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("run.rec");
    Recording recording = Recording.create(file, 5, List.of("b", "a"));
    try (recording) {
      for (int i = 0; i < 5_000; i++) {
        recording.recorded(event(i));
      }
    }
    assertThat(recording.problem()).isEmpty();
    List<String> lines = lines(Files.readAllBytes(file));
    assertThat(lines).hasSize(5_001);
    assertThat(lines.get(0)).contains("\"seed\":\"5\"", "[\"a\",\"b\"]");
    assertThat(lines.get(5_000)).endsWith("\"4999\"]");
  }
}
