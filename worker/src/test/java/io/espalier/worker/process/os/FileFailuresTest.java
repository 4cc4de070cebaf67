package io.espalier.worker.process.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.worker.logs.SegmentLogStore;
import io.espalier.worker.process.kill.WorkerDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the file system refuses at a start, the path and what it is for are named. */
class FileFailuresTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @Test
  void aFullDiskIsSaidWithThePathThoughTheSystemNamesNone() {
    Path full = Path.of("/dev/full");
    assertThatThrownBy(
            () ->
                FileFailures.needing(
                    "the journal",
                    full,
                    () -> {
                      try (FileChannel out = FileChannel.open(full, StandardOpenOption.WRITE)) {
                        return out.write(ByteBuffer.allocate(1));
                      }
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot use /dev/full for the journal: No space left on device");
  }

  @Test
  void whatTheSystemSaysOnlyByAnExceptionIsSaidInWords() {
    assertThat(FileFailures.why(new AccessDeniedException("/a/b")))
        .isEqualTo("permission denied (/a/b)");
    assertThat(FileFailures.why(new NoSuchFileException("/a/b")))
        .isEqualTo("there is no such file (/a/b)");
    assertThat(FileFailures.why(new FileSystemException("/a/b", null, "Read-only file system")))
        .isEqualTo("Read-only file system (/a/b)");
  }

  @Test
  void aFileInPlaceOfADirectoryIsNamedWithWhatItIsFor() throws IOException {
    Path running = Files.createFile(directory.resolve("running"));
    assertThatThrownBy(() -> WorkerDirectory.takeOver(directory))
        .hasMessageContaining(directory.toString())
        .hasMessageContaining("there is a file of that name that is no directory")
        .hasMessageContaining(running.toString());
    Path logs = Files.createFile(directory.resolve("logs"));
    assertThatThrownBy(() -> SegmentLogStore.open(logs))
        .hasMessageContaining("cannot use " + logs + " for the output of tasks: ");
  }
}
