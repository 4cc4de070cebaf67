package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.Throttle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThrottleFileTest {
  private final Deque<Runnable> later = new ArrayDeque<>();

  private void after(long nanos, Runnable action) {
    assertThat(nanos).isEqualTo(1_000_000_000L);
    later.add(action);
  }

  @Test
  void theFileIsReplacedAtMostOnceASecondAndTheNewestLineCounts(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("1.throttle");
    ThrottleFile throttle = new ThrottleFile(file, null, this::after);
    assertThat(file).doesNotExist();
    throttle.write(new Throttle(0.5, "first"));
    assertThat(file).hasContent("0.5 first");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    Object inode = Files.getAttribute(file, "unix:ino");
    throttle.write(new Throttle(0.25, "second"));
    throttle.write(new Throttle(0, "third"));
    assertThat(file).as("within the second").hasContent("0.5 first");
    later.remove().run();
    assertThat(file).hasContent("0 third");
    assertThat(Files.getAttribute(file, "unix:ino")).isNotEqualTo(inode);
    later.remove().run();
    assertThat(later).as("nothing more to write").isEmpty();
    throttle.write(Throttle.NONE);
    assertThat(file).hasContent("1");
    throttle.write(new Throttle(0.5, "too late"));
    throttle.delete();
    later.remove().run();
    assertThat(directory).isEmptyDirectory();
  }
}
