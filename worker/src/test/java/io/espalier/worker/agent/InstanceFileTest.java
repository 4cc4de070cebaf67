package io.espalier.worker.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.worker.process.os.RunPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** For which earlier processes a worker's directory vouches. */
class InstanceFileTest {
  private static final RunPlace HERE = place("machine", "boot", "pid:[1]", "7");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private static RunPlace place(String machine, String boot, String namespace, String inode) {
    return new RunPlace(machine, "product-of-" + machine, boot, namespace, inode);
  }

  private List<Long> enter(long instance, RunPlace where) throws IOException {
    return InstanceFile.enter(directory, instance, where, true);
  }

  @Test
  void aRestartInTheSamePlaceVouchesForAllBeforeIt() throws IOException {
    assertThat(enter(1, HERE)).isEmpty();
    assertThat(enter(2, HERE)).containsExactly(1L);
    assertThat(enter(3, HERE)).containsExactly(1L, 2L);
  }

  @Test
  void aDirectoryOnAnotherMachineVouchesForNothingButWhatRanThere() throws IOException {
    RunPlace other = place("other", "boot2", "pid:[1]", "7");
    enter(1, HERE);
    assertThat(enter(2, other)).isEmpty();
    assertThat(enter(3, other)).containsExactly(2L);
  }

  @Test
  void anotherNamespaceOrACopyVouchesForNothing() throws IOException {
    enter(1, HERE);
    assertThat(enter(2, place("machine", "boot", "pid:[2]", "7"))).isEmpty();
    assertThat(enter(3, place("machine", "boot", "pid:[2]", "8"))).isEmpty();
  }

  @Test
  void whatAProcessElsewhereCouldNotLookForIsUnknownToThoseAfterIt() throws IOException {
    RunPlace container = place("machine", "boot", "pid:[2]", "7");
    enter(1, HERE);
    enter(2, container);
    // The journal of the first is gone by now.
    assertThat(enter(3, HERE)).isEmpty();
    assertThat(enter(4, HERE)).containsExactly(3L);
  }

  @Test
  void whoDidNotLookVouchesForNothing() throws IOException {
    enter(1, HERE);
    assertThat(InstanceFile.enter(directory, 2, HERE, false)).isEmpty();
    assertThat(enter(3, HERE)).containsExactly(2L);
  }

  @Test
  void aLaterBootOfTheSameMachineEndsAllBeforeIt() throws IOException {
    RunPlace later = place("machine", "boot2", "pid:[1]", "7");
    enter(1, HERE);
    enter(2, place("machine", "boot", "pid:[2]", "7"));
    assertThat(InstanceFile.enter(directory, 3, later, false)).containsExactly(1L, 2L);
  }

  @Test
  void aDirectoryOfAnOlderVersionVouchesForNothing() throws IOException {
    Files.writeString(directory.resolve("instances"), "1\n2\n");
    assertThat(enter(3, HERE)).isEmpty();
    assertThat(directory.resolve("instances")).doesNotExist();
  }

  @Test
  void aDamagedFileIsNamed() throws IOException {
    Files.writeString(directory.resolve("instance-places"), "1\n");
    assertThatThrownBy(() -> enter(1, HERE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("instance-places is damaged");
  }
}
