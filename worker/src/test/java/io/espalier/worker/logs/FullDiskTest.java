package io.espalier.worker.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is really full: a small tmpfs. */
class FullDiskTest {
  private static final LogLimits LIMITS =
      new LogLimits(50_000, 200_000, 300_000, 400_000, 800_000, 8 << 20, 64 << 20);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private boolean mounted;

  @BeforeEach
  void mount() throws Exception {
    mounted = run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory.toString());
    if (!mounted) {
      System.err.println("SKIPPED: a full disk was not tried: no right to mount a tmpfs here");
    }
    assumeThat(mounted).isTrue();
  }

  @AfterEach
  void unmount() throws Exception {
    if (mounted) {
      assertThat(run("umount", directory.toString())).isTrue();
    }
  }

  private static boolean run(String... command) throws Exception {
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return false;
    }
    return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
  }

  @Test
  void linesWaitWhileTheDiskIsFullAndNoneIsLost() throws Exception {
    Path filler = Files.write(directory.resolve("filler"), new byte[1 << 20]);
    Path logs = directory.resolve("logs");
    Random random = new Random(1);
    List<String> written = new ArrayList<>();
    try (SegmentLogStore store = SegmentLogStore.open(logs, LIMITS)) {
      while (store.hasRoom()) {
        // Nothing that could be compressed well.
        byte[] bytes = new byte[300];
        random.nextBytes(bytes);
        String text = written.size() + Base64.getEncoder().encodeToString(bytes);
        store.append(Stream.STDOUT, "job", "node", System.currentTimeMillis(), text);
        written.add(text);
        assertThat(written.size()).isLessThan(100_000);
        Thread.onSpinWait();
        if (written.size() % 500 == 0) {
          int size = written.size();
          await()
              .until(
                  () ->
                      store.writtenLines() == size
                          || store.problem().isPresent()
                          || !store.hasRoom());
        }
      }
      await().until(() -> store.problem().isPresent());
      assertThat(store.problem().orElseThrow())
          .contains("cannot write task logs")
          .contains("space");
      // What is in memory is found all the same.
      assertThat(texts(store)).isEqualTo(written);
      Files.delete(filler);
      await().until(() -> store.problem().isEmpty() && store.hasRoom());
      store.append(Stream.STDOUT, "job", "node", System.currentTimeMillis(), "last");
      written.add("last");
      await().until(() -> store.writtenLines() == written.size());
      assertThat(store.stats().droppedLines()).isZero();
    }
    try (SegmentLogStore store = SegmentLogStore.open(logs, LIMITS)) {
      assertThat(texts(store)).isEqualTo(written);
    }
  }

  private static List<String> texts(SegmentLogStore store) {
    LogPage page = store.query(LogQuery.of(Stream.STDOUT).withLimit(1_000_000));
    assertThat(page.nextId()).isEqualTo(LogPage.END);
    return page.lines().stream().map(LogLine::text).toList();
  }
}
