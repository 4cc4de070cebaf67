package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OpenPartsTest {
  @Test
  void aPartThatCannotBeClosedDoesNotKeepTheNextOneOpen() throws Exception {
    List<String> closed = new ArrayList<>();
    OpenParts parts = new OpenParts();
    AutoCloseable first = parts.add("first", () -> closed.add("first"));
    AutoCloseable failing =
        parts.add(
            "failing",
            () -> {
              throw new IllegalStateException("on purpose");
            });
    AutoCloseable unlinked =
        parts.add(
            "unlinked",
            () -> {
              // As when the archive of a running program was replaced.
              throw new NoClassDefFoundError("on purpose");
            });
    assertThat(List.of(first, failing, unlinked)).doesNotContainNull();

    parts.close();

    assertThat(closed).containsExactly("first");
  }
}
