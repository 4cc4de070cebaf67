package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.server.store.DataDirectoryException.Reason;
import io.espalier.testkit.running.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirectoryTest {
  private static final String SOURCE = "file:/etc/espalier/config.json";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path temp;

  @Test
  void it_is_created_with_all_that_is_in_it_and_private() throws Exception {
    Path path = temp.resolve("a/b/data");
    try (DataDirectory data = DataDirectory.open(path, SOURCE)) {
      assertThat(data.root()).isEqualTo(path.toRealPath());
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwx------");
      assertThat(data.logs()).isDirectory();
      assertThat(path.resolve("jobs")).isDirectory();
      assertThat(path.resolve("source")).hasContent(SOURCE);
      assertThat(data.statusFile().getParent()).isEqualTo(data.root());
    }
    assertThat(DataDirectory.sourceOf(path)).isEqualTo(SOURCE);
    assertThat(DataDirectory.sourceOf(temp)).isNull();
  }

  @Test
  void only_directories_with_a_readable_source_are_beside_it() throws Exception {
    DataDirectory.open(temp.resolve("one"), SOURCE).close();
    DataDirectory.open(temp.resolve("two"), SOURCE).close();
    Files.createDirectories(temp.resolve("of-somebody-else/source"));
    Files.createDirectory(temp.resolve("empty"));

    assertThat(DataDirectory.beside(temp.resolve("one"))).containsExactly(temp.resolve("two"));
  }

  @Test
  void it_can_be_opened_again_for_the_same_source_only() {
    DataDirectory.open(temp, SOURCE).close();
    DataDirectory.open(temp, SOURCE).close();
    assertThatItIsRefused(temp, "file:/other.json", Reason.OTHER_SOURCE)
        .hasMessageContaining("belongs to " + SOURCE + ", not to file:/other.json")
        .hasMessageContaining("--data-dir");
    // A refusal leaves no lock behind.
    DataDirectory.open(temp, SOURCE).close();
  }

  @Test
  void a_second_opener_in_this_process_is_refused_and_takes_nobody_s_lock() throws Exception {
    try (DataDirectory first = DataDirectory.open(temp, SOURCE)) {
      for (int i = 0; i < 3; i++) {
        assertThatItIsRefused(temp.resolve("../" + temp.getFileName()), SOURCE, Reason.LOCKED)
            .hasMessageContaining("is in use by another Espalier")
            .hasMessageContaining("process " + ProcessHandle.current().pid());
      }
      // POSIX locks are lost by closing any descriptor of the file: another process must still
      // fail.
      assertThat(outputOf(other(temp))).startsWith("LOCKED");
      assertThat(first.root()).exists();
    }
    DataDirectory.open(temp, SOURCE).close();
  }

  @Test
  void a_second_process_is_refused_until_the_first_is_killed() throws Exception {
    Process holder = other(temp);
    try (BufferedReader out = reader(holder)) {
      assertThat(out.readLine()).isEqualTo("OPEN");
      assertThatItIsRefused(temp, SOURCE, Reason.LOCKED)
          .hasMessage(
              "data directory "
                  + temp
                  + " is in use by another Espalier (process "
                  + holder.pid()
                  + ")");
      holder.destroyForcibly();
      await().until(() -> !holder.isAlive());
    }
    DataDirectory.open(temp, SOURCE).close();
  }

  @Test
  void a_file_in_its_place_is_refused() throws Exception {
    Path file = Files.writeString(temp.resolve("file"), "x");
    assertThatItIsRefused(file, SOURCE, Reason.UNUSABLE)
        .hasMessageContaining("data directory " + file + " cannot be used")
        .hasMessageContaining("a file of that name");
    assertThatItIsRefused(file.resolve("below"), SOURCE, Reason.UNUSABLE);
  }

  @Test
  void a_place_where_nobody_may_write_is_refused() {
    // Even root cannot create anything there.
    assertThatItIsRefused(Path.of("/proc/espalier"), SOURCE, Reason.UNUSABLE)
        .hasMessageStartingWith("data directory /proc/espalier cannot be used: ");
  }

  @Test
  void a_directory_with_files_of_others_is_refused_and_left_alone() throws Exception {
    for (String name : List.of("a.conf", "b.conf", "c.conf")) {
      Files.writeString(temp.resolve(name), "x");
    }
    assertThatItIsRefused(temp, SOURCE, Reason.UNUSABLE)
        .hasMessage(
            "directory "
                + temp
                + " has files that are not Espalier's (a.conf, b.conf, c.conf); choose an empty or"
                + " new directory with --data-dir");
    Files.writeString(temp.resolve("d.conf"), "x");
    assertThatItIsRefused(temp, SOURCE, Reason.UNUSABLE)
        .hasMessageContaining("(a.conf, b.conf, c.conf, ...)");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).hasSize(4);
    }
  }

  @Test
  void what_a_new_volume_has_and_a_copied_store_are_no_files_of_others() throws Exception {
    Path volume = Files.createDirectories(temp.resolve("volume"));
    Files.createDirectory(volume.resolve("lost+found"));
    Files.createDirectory(volume.resolve(".snapshots"));
    DataDirectory.open(volume, SOURCE).close();

    Path restored = Files.createDirectories(temp.resolve("restored"));
    Files.writeString(restored.resolve(DataDirectory.STATUSES), "");
    Files.writeString(restored.resolve("README"), "x");
    DataDirectory.open(restored, SOURCE).close();
  }

  @Test
  void two_ways_to_the_same_directory_are_one() throws Exception {
    Path real = Files.createDirectory(temp.resolve("real"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), real);
    try (DataDirectory data = DataDirectory.open(real, SOURCE)) {
      assertThatItIsRefused(link, SOURCE, Reason.LOCKED);
      assertThat(data.root()).isEqualTo(real.toRealPath());
    }
  }

  private static org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable>
      assertThatItIsRefused(Path path, String source, Reason reason) {
    return assertThatThrownBy(() -> DataDirectory.open(path, source))
        .isInstanceOfSatisfying(
            DataDirectoryException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(reason);
              assertThat(e.getMessage()).doesNotContain("\n");
            });
  }

  private static Process other(Path directory) throws IOException {
    return new ProcessBuilder(JavaCommand.of(Holder.class, directory.toString()))
        .redirectErrorStream(true)
        .start();
  }

  private static String outputOf(Process process) throws IOException {
    try (BufferedReader out = reader(process)) {
      return String.valueOf(out.readLine());
    }
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Another process: opens the directory and holds it until it is killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws Exception {
      try (DataDirectory held = DataDirectory.open(Path.of(args[0]), SOURCE)) {
        System.out.println("OPEN");
        // Nobody ever writes: until it is killed, or whoever started it has died.
        System.out.println(held.root() + " " + System.in.read());
      } catch (DataDirectoryException e) {
        System.out.println(e.reason() + " " + e.getMessage());
      }
    }
  }
}
