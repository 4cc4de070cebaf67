package io.espalier.worker.logs;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  /** The writer syncs segments while old ones are deleted. */
  @Test
  void aDeletedSegmentNeedsNoSync() throws IOException {
    Segment segment = Segment.create(directory, 1);
    assertThatThrownBy(segment::force).isInstanceOf(NoSuchFileException.class);
    segment.delete();
    assertThatCode(segment::force).doesNotThrowAnyException();
  }
}
