package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileSourcesTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private static Unavailable refused(String uri) {
    return catchThrowableOfType(Unavailable.class, () -> ConfigSources.open(uri).fetch());
  }

  @Test
  void aFileIsOneDocumentAndItsHashFollowsItsContent() throws Exception {
    Path file = write("c.json", "{}");
    ConfigSource source = ConfigSources.open(file.toString());
    assertThat(source.name()).isEqualTo(file.toString());
    assertThat(source.directory()).isEqualTo(directory.toString());
    ConfigSource.Text first = source.fetch();
    assertThat(first.documents()).extracting(Document::name).containsExactly(file.toString());
    assertThat(source.fetch().hash()).isEqualTo(first.hash());
    write("c.json", "{ }");
    assertThat(source.fetch().hash()).isNotEqualTo(first.hash());
  }

  @Test
  void aDirectoryIsItsJsonFilesByName() throws Exception {
    write("b.json", "{\"b\": 1}");
    write("a.json", "{\"a\": 1}");
    write("a.json.bak", "x");
    write(".#a.json", "x");
    Files.createDirectory(directory.resolve("sub.json"));
    ConfigSource source = ConfigSources.open(directory.toUri().toString());
    assertThat(source.fetch().documents())
        .extracting(d -> Path.of(d.name()).getFileName().toString())
        .containsExactly("a.json", "b.json");
    assertThat(source.directory()).isEqualTo(directory.toString());
  }

  @Test
  void textThatMovesToAnotherFileChangesTheHash() throws Exception {
    ConfigSource source = ConfigSources.open(directory.toString());
    write("a.json", "xy");
    write("b.json", "z");
    String before = source.fetch().hash();
    write("a.json", "x");
    write("b.json", "yz");
    assertThat(source.fetch().hash()).isNotEqualTo(before);
  }

  @Test
  void whatIsNotThereIsSaid() throws Exception {
    assertThat(refused(directory.resolve("none.json").toString()).problem().message())
        .contains("no such file");
    assertThat(refused(directory.toString()).problem().message())
        .contains("no *.json or *.yaml file");
  }

  @ParameterizedTest
  @CsvSource({
    "zk://h1:2181, the path is missing",
    "zk://h1:2181/x?user=y, the only parameter is auth_file",
    "zk:h1, not of the form zk://HOSTS/PATH",
    "mysql://h/db, is not of the form mysql://user@host:port/schema",
    "mysql:h, not of the form mysql://user@host",
    "mysql://u@h/db?x=1, unknown parameter x",
    "ftp://h/c.json, unknown kind of configuration",
    "'', must not be empty",
    "file:relative, not a URI of a file"
  })
  void whatIsNoFileIsRefused(String uri, String message) {
    Unavailable refused = catchThrowableOfType(Unavailable.class, () -> ConfigSources.open(uri));
    assertThat(refused.problem().message()).contains(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mysql://user:secret@h/db",
        "mysql://user:se:c@ret@h/db?x=1",
        "mysql://h/db?user=u&password=secret",
        "mysql://h/db?PASSWORD=secret"
      })
  void passwordsAreNotShown(String uri) {
    assertThat(ConfigSources.shown(uri)).doesNotContain("secret", "c@ret").contains("…");
    assertThat(refused(uri).problem().toString()).doesNotContain("secret");
  }

  @Test
  void twoReadingsMustAgree() throws Exception {
    Path file = write("c.json", "v0");
    AtomicInteger readings = new AtomicInteger();
    FileReading settling =
        new FileReading(
            file,
            () -> {
              Files.writeString(file, "v" + Math.min(readings.getAndIncrement(), 4));
              return List.of(file);
            });
    assertThat(settling.fetch().documents().get(0).bytes()).asString().isEqualTo("v4");
    FileReading restless =
        new FileReading(
            file,
            () -> {
              Files.writeString(file, "v" + readings.getAndIncrement());
              return List.of(file);
            });
    assertThat(catchThrowableOfType(Unavailable.class, restless::fetch).problem().message())
        .contains("changes faster");
  }

  @Test
  void aPipeIsReadOnce() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process writer =
        new ProcessBuilder("sh", "-c", "printf '{}' > \"$0\"", pipe.toString()).start();
    assertThat(ConfigSources.open(pipe.toString()).fetch().documents().get(0).bytes())
        .asString()
        .isEqualTo("{}");
    assertThat(writer.waitFor()).isZero();
  }

  @Test
  void filesAreNotReadAgainWhileTheirStampIsOldAndTheSame() throws Exception {
    Path file = write("c.json", "v1");
    Instant[] now = {Instant.now()};
    FileReading reading = new FileReading(file, () -> List.of(file), () -> now[0]);
    Object young = reading.fetch();
    assertThat(reading.fetch()).as("the stamp is too young to tell").isNotSameAs(young);
    now[0] = now[0].plusSeconds(5);
    Object old = reading.fetch();
    assertThat(reading.fetch()).isSameAs(old);
    now[0] = now[0].plusSeconds(11);
    assertThat(reading.fetch()).as("stamps are believed for ten seconds").isNotSameAs(old);
  }

  @Test
  void noModificationTimeHidesAChange() throws Exception {
    Path file = write("c.json", "v1");
    FileTime time = Files.getLastModifiedTime(file);
    Instant later = Instant.now().plusSeconds(5);
    FileReading reading = new FileReading(file, () -> List.of(file), () -> later);
    reading.fetch();
    write("c.json", "v2");
    Files.setLastModifiedTime(file, time);
    assertThat(reading.fetch().documents().get(0).bytes()).asString().isEqualTo("v2");
  }
}
