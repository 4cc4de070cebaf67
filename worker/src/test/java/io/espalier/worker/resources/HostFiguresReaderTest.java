package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostFiguresReaderTest {
  private static final long KB = 1024;
  private static final Space DISK = new Space(9_000, 4_000);

  @TempDir Path root = Path.of("");

  private final Source source = new Source();

  /** Questions for the disk that wait for their thread. */
  private final Deque<Runnable> questions = new ArrayDeque<>();

  private static final class Source implements HostFiguresReader.Source {
    double load = 1.25;
    Space memory = new Space(8_000 * KB, 1_000 * KB);
    Space disk = DISK;
    boolean fails;

    @Override
    public double load() {
      return load;
    }

    @Override
    public Space memory() {
      return memory;
    }

    @Override
    public Space disk() throws IOException {
      if (fails) {
        throw new IOException("stale file handle");
      }
      return disk;
    }
  }

  private HostFiguresReader reader() {
    return new HostFiguresReader(root, source, questions::add);
  }

  private void host(long totalKb, long availableKb) throws IOException {
    Files.createDirectories(root.resolve("proc"));
    Files.writeString(
        root.resolve("proc/meminfo"),
        "MemTotal: %d kB\nMemAvailable: %d kB\n".formatted(totalKb, availableKb));
  }

  @Test
  void aDiskThatDoesNotAnswerIsUnknownAndHoldsNothingUp() {
    HostFiguresReader reader = reader();
    for (int i = 0; i < 3; i++) {
      HostFigures figures = reader.read();
      assertThat(figures.disk()).isEqualTo(Space.UNKNOWN);
      assertThat(figures.load()).isEqualTo(1_250);
      assertThat(questions).as("one question at a time").hasSize(1);
    }
    questions.remove().run();
    assertThat(reader.read().disk()).as("it answers again").isEqualTo(DISK);

    assertThat(questions).as("and is asked again").hasSize(1);
    source.disk = new Space(9_000, 100);
    questions.remove().run();
    assertThat(reader.read().disk()).isEqualTo(source.disk);
    assertThat(reader.read().disk()).as("no answer to this one").isEqualTo(Space.UNKNOWN);
  }

  @Test
  void whatCannotBeReadIsUnknown() {
    source.fails = true;
    source.load = -1;
    source.memory = Space.UNKNOWN;
    HostFiguresReader reader = reader();
    questions.remove().run();
    assertThat(reader.read()).isEqualTo(HostFigures.UNKNOWN);
  }

  @Test
  void availableIsWhatTheHostHas() throws IOException {
    HostFiguresReader reader = reader();
    assertThat(reader.read().memory()).as("no such file").isEqualTo(source.memory);
    host(8_000, 6_000);
    assertThat(reader.read().memory()).isEqualTo(new Space(8_000 * KB, 6_000 * KB));
  }

  @Test
  void inAGroupOfVersion1ItIsWhatIsLeftBelowItsLimit() throws IOException {
    host(8_000, 6_000);
    FakeHost groups = new FakeHost(root).version1("memory");
    String memory = "sys/fs/cgroup/memory/";
    groups
        .put(memory + "memory.use_hierarchy", 1)
        .put(memory + "memory.limit_in_bytes", 9223372036854771712L)
        .put(memory + "slice/memory.limit_in_bytes", 5_000 * KB)
        .put(memory + "slice/memory.usage_in_bytes", 4_000 * KB)
        .put(memory + "slice/memory.stat", "inactive_file 7\ntotal_inactive_file " + 500 * KB)
        .put(memory + "slice/own/memory.limit_in_bytes", 5_500 * KB)
        .put(memory + "slice/own/memory.usage_in_bytes", 1_000 * KB)
        .put(memory + "slice/own/memory.stat", "cache 0");
    HostFiguresReader reader = reader();
    assertThat(reader.read().memory())
        .as("the cache of the slice can be dropped")
        .isEqualTo(new Space(5_000 * KB, 1_500 * KB));
    groups.put(memory + "slice/own/memory.usage_in_bytes", 5_400 * KB);
    assertThat(reader.read().memory())
        .as("its own limit is nearer")
        .isEqualTo(new Space(5_000 * KB, 100 * KB));
    host(8_000, 50);
    assertThat(reader.read().memory())
        .as("the host has less")
        .isEqualTo(new Space(5_000 * KB, 50 * KB));
    groups.put(memory + "slice/memory.limit_in_bytes", 9_000 * KB);
    groups.put(memory + "slice/own/memory.limit_in_bytes", 9_000 * KB);
    assertThat(reader.read().memory())
        .as("no limit below the host's memory")
        .isEqualTo(new Space(8_000 * KB, 50 * KB));
  }

  @Test
  void inAGroupOfVersion2ItIsTheSame() throws IOException {
    host(8_000, 6_000);
    String group = "sys/fs/cgroup/slice/";
    new FakeHost(root)
        .version2()
        .put(group + "own/memory.max", "max")
        .put(group + "memory.max", 5_000 * KB)
        .put(group + "memory.current", 4_000 * KB)
        .put(group + "memory.stat", "anon 1\ninactive_file " + 500 * KB);
    assertThat(reader().read().memory()).isEqualTo(new Space(5_000 * KB, 1_500 * KB));
  }

  @Test
  void thisHostCanBeMeasured() {
    HostFiguresReader reader = HostFiguresReader.ofThisHost(root);
    await()
        .atMost(60, TimeUnit.SECONDS)
        .untilAsserted(() -> assertThat(reader.read().disk().isKnown()).isTrue());
    HostFigures figures = reader.read();
    assertThat(figures.memory().isKnown()).isTrue();
    assertThat(figures.load()).isNotNegative();
  }
}
