package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every source of configuration that can be written promises, whatever it is kept in. */
@Timeout(120)
public abstract class WritableSourceContract {
  private static final String START =
      """
      // Owned by the storage team.
      {
        "bistro_settings": {
          "nodes": {"levels": ["host"], "node_sources": [{"source": "empty"}]},
          "resources": {}
        },
        // Runs every night.
        "bistro_job->nightly": {"owner": "ann", "priority": 7} // do not touch
      }
      """;

  private final InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(1_000));
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  /** A source on the one place of this test; called several times. */
  protected abstract WritableConfigSource open() throws Exception;

  /** Puts text there as an operator would, past the source. */
  protected abstract void put(String text) throws Exception;

  @AfterEach
  void closeAll() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  private WritableConfigSource source() throws Exception {
    WritableConfigSource source = open();
    opened.push(source::close);
    return source;
  }

  private WritableConfigSource started() throws Exception {
    put(START);
    return source();
  }

  private JobEditor editor(WritableConfigSource source) {
    return new JobEditor(source, ConfigFixtures.parser(), clock);
  }

  protected static Json.Obj job(String text) {
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(text).value());
  }

  private static Config config(WritableConfigSource source) throws Exception {
    return Objects.requireNonNull(
        new ConfigLoader(ConfigFixtures.parser()).load(source.fetch()).value());
  }

  private static String whole(Text text) {
    StringBuilder all = new StringBuilder();
    for (Document document : text.documents()) {
      all.append(new String(document.bytes(), StandardCharsets.UTF_8));
    }
    return all.toString();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void equalTextHasEqualHashesAndOtherTextOthers() throws Exception {
    WritableConfigSource source = started();
    Text first = source.fetch();
    assertThat(whole(first)).isEqualTo(START);
    assertThat(source.fetch().hash()).isEqualTo(first.hash());
    assertThat(source().fetch().hash()).isEqualTo(first.hash());
    put(START.replace("ann", "eve"));
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(source.fetch().hash()).isNotEqualTo(first.hash()));
    put(START);
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(source.fetch().hash()).isEqualTo(first.hash()));
  }

  @Test
  void whatIsNotThereIsSaidWithItsPlaceAndNoSecret() throws Exception {
    WritableConfigSource source = source();
    Unavailable none = catchThrowableOfType(Unavailable.class, source::fetch);
    assertThat(none.problem().message()).contains("there is no");
    put(START);
    await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(whole(source.fetch())).isEqualTo(START));
    assertThat(source.name()).doesNotContain("s3cret");
  }

  @Test
  void aWriteIsReadByAllAndOnlyOnceItIsWhole() throws Exception {
    WritableConfigSource source = started();
    WritableConfigSource other = source();
    Text before = other.fetch();
    String document = before.documents().get(0).name();
    String changed = START.replace("\"priority\": 7", "\"priority\": 8");
    assertThat(source.write(source.fetch(), document, bytes(changed))).isTrue();
    assertThat(whole(source.fetch())).as("by the writer at once").isEqualTo(changed);
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(whole(other.fetch())).isEqualTo(changed));
  }

  @Test
  void aWriteAgainstOlderTextChangesNothing() throws Exception {
    WritableConfigSource source = started();
    WritableConfigSource other = source();
    Text old = other.fetch();
    String document = old.documents().get(0).name();
    assertThat(source.write(source.fetch(), document, bytes(START.replace("ann", "eve")))).isTrue();
    assertThat(other.write(old, document, bytes(START.replace("ann", "bob")))).isFalse();
    assertThat(whole(source.fetch())).contains("eve").doesNotContain("bob");
  }

  @Test
  void severalJobsAreSavedAndDeletedAtOnce() throws Exception {
    WritableConfigSource source = started();
    ConfigEditor editor = new ConfigEditor(editor(source));
    ConfigChange change =
        new ConfigChange(
            job(
                "{\"bistro_job->one\": {\"owner\": \"a\"},"
                    + " \"bistro_job->two\": {\"owner\": \"b\"}}"),
            true);
    ConfigEditor.Edited edited = editor.edit(change);
    assertThat(editor.write(edited, "ann", "")).hasSize(3);
    assertThat(config(source).jobs()).containsOnlyKeys("one", "two");
    assertThat(editor.edit(change).members()).as("the same again").isEmpty();
    assertThat(editor.write(edited, "ann", "")).as("on older text").isNull();
    assertThat(editor(source()).history("two")).hasSize(1);
    Map<String, List<JobVersion>> histories =
        source().histories(List.of("nightly", "two", "nobody"));
    assertThat(histories.get("two")).isEqualTo(source.history("two")).hasSize(1);
    assertThat(histories.get("nightly"))
        .as("as it was, and its deletion")
        .isEqualTo(source.history("nightly"))
        .hasSize(2);
    assertThat(histories.getOrDefault("nobody", List.of())).isEmpty();
    assertThat(whole(source.fetch())).contains("// Owned by the storage team.");
  }

  @Test
  void jobsAreSavedDeletedAndBroughtBackWithTheirHistory() throws Exception {
    WritableConfigSource source = started();
    JobEditor editor = editor(source);
    JobVersion first = editor.save("new", job("{\"owner\": \"a\"}"), 0, "ann", "made");
    assertThat(first.version()).isEqualTo(1);
    JobVersion second = editor.save("new", job("{\"owner\": \"b\"}"), 1, "bob", "mine");
    assertThat(second.version()).isEqualTo(2);
    assertThat(editor.delete("new", 2, "eve", "gone").version()).isEqualTo(3);
    assertThat(config(source).jobs()).containsOnlyKeys("nightly");
    assertThat(editor.rollBack("new", 1, "ann", "").version()).isEqualTo(4);
    assertThat(Objects.requireNonNull(config(source).job("new")).owner()).isEqualTo("a");

    List<JobVersion> history = editor(source()).history("new");
    assertThat(history).extracting(JobVersion::version).containsExactly(1L, 2L, 3L, 4L);
    assertThat(history).extracting(JobVersion::author).containsExactly("ann", "bob", "eve", "ann");
    assertThat(history)
        .extracting(JobVersion::reason)
        .containsExactly("made", "mine", "gone", "back to version 1");
    assertThat(history).extracting(JobVersion::atMillis).containsOnly(1_000_000L);
    assertThat(history.get(2).job()).isNull();
    assertThat(editor.history("nightly")).isEmpty();
    assertThat(whole(source.fetch())).contains("// Owned by the storage team.", "// do not touch");
  }

  @Test
  void aVersionThatIsAnotherByNowIsRefused() throws Exception {
    WritableConfigSource source = started();
    JobEditor editor = editor(source);
    JobVersion saved = editor.save("nightly", job("{\"owner\": \"a\"}"), -1, "", "");
    assertThatThrownBy(
            () ->
                editor(source())
                    .save("nightly", job("{\"owner\": \"b\"}"), saved.version() - 1, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("has version " + saved.version());
    assertThat(Objects.requireNonNull(config(source).job("nightly")).owner()).isEqualTo("a");
  }

  @Test
  void namesOfJobsMayHoldAllThatTheyMay() throws Exception {
    WritableConfigSource source = started();
    JobEditor editor = editor(source);
    for (String name : List.of("a:b", "A.b_c-d", "x.", "%3A")) {
      try {
        editor.save(name, job("{\"owner\": \"a\"}"), 0, "", "");
      } catch (RefusedException e) {
        // Not a name of a job at all.
        continue;
      }
      assertThat(config(source).jobs()).containsKey(name);
      assertThat(editor.history(name)).hasSize(1);
    }
    assertThat(config(source).jobs()).containsKey("a:b");
  }

  @Test
  void ofManyWritersAtATimeNoneLosesAnything() throws Exception {
    put(START);
    int editors = 3;
    int each = 8;
    List<Callable<JobVersion>> work = new ArrayList<>();
    for (int e = 0; e < editors; e++) {
      JobEditor editor = editor(source());
      for (int i = 0; i < each; i++) {
        String name = "job" + e + "_" + i;
        work.add(() -> editor.save(name, job("{\"owner\": \"a\"}"), 0, "", ""));
        work.add(() -> editor.save("shared", job("{\"owner\": \"a\"}"), -1, "", ""));
      }
    }
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Long> shared = new ArrayList<>();
    try {
      for (Future<JobVersion> future : pool.invokeAll(work)) {
        if (future.get().name().equals("shared")) {
          shared.add(future.get().version());
        }
      }
    } finally {
      pool.shutdownNow();
    }
    WritableConfigSource source = source();
    assertThat(config(source).jobs()).hasSize(2 + editors * each);
    assertThat(shared).doesNotHaveDuplicates().hasSize(editors * each);
    assertThat(Objects.requireNonNull(config(source).job("shared")).versionId())
        .isEqualTo(shared.stream().mapToLong(Long::longValue).max().orElseThrow());
    assertThat(editor(source).history("shared")).hasSize(editors * each);
  }

  @Test
  void aPollerAppliesWhatAnotherHasWritten() throws Exception {
    WritableConfigSource source = started();
    try (ConfigPoller poller =
        new ConfigPoller(source, ConfigFixtures.parser(), InstantSource.system(), snapshot -> {})) {
      poller.poll(Instant.now());
      poller.start();
      long saved = System.nanoTime();
      editor(source()).save("new", job("{\"owner\": \"a\"}"), 0, "", "");
      await()
          .atMost(Duration.ofSeconds(20))
          .pollInterval(Duration.ofMillis(10))
          .until(() -> Objects.requireNonNull(poller.current().config()).jobs().containsKey("new"));
      System.err.printf(
          "%s: in force after %d ms%n",
          getClass().getSimpleName(), (System.nanoTime() - saved) / 1_000_000);
    }
  }
}
