package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobEditorTest {
  private static final String SETTINGS =
      """
      // Owned by the storage team.
      {
        "bistro_settings": {
          "nodes": {"levels": ["host"], "node_sources": [{"source": "empty"}]},
          "resources": {}
        }
      }
      """;

  private static final String ONE =
      """
      // Owned by the storage team.
      {
        "bistro_settings": {
          "nodes": {"levels": ["host"], "node_sources": [{"source": "empty"}]},
          "resources": {}
        },
        // Runs every night.
        "bistro_job->nightly": {"owner": "ann", "priority": 7}, // do not touch
        "bistro_job->other": {"owner": "bob"}
      }
      """;

  private final InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(1_000));

  private static JobEditor editor(ConfigSource source, InstantSource clock) {
    return new JobEditor(source, ConfigFixtures.parser(), clock);
  }

  private static Json.Obj job(String text) {
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(text).value());
  }

  private static Job read(ConfigSource source, String name) throws Exception {
    Config config = new ConfigLoader(ConfigFixtures.parser()).load(source.fetch()).value();
    return Objects.requireNonNull(Objects.requireNonNull(config).job(name));
  }

  private static Path file(Path directory, String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  @Test
  void aSavedJobReplacesTheOldOneAndNothingElse(@TempDir Path directory) throws Exception {
    Path file = file(directory, "site.json", ONE);
    FileConfigSource source = new FileConfigSource(file);
    JobVersion saved =
        editor(source, clock).save("other", job("{\"owner\": \"eve\"}"), -1, "eve", "mine now");
    assertThat(saved.version()).isEqualTo(1);
    assertThat(Files.readString(file))
        .isEqualTo(
            ONE.replace(
                "{\"owner\": \"bob\"}",
                """
                {
                    "owner": "eve",
                    "version_id": 1,
                    "create_time": 1000,
                    "modify_time": 1000
                  }\
                """));
    assertThat(read(source, "other").versionId()).isEqualTo(1);
    assertThat(read(source, "nightly").priority()).isEqualTo(7);
  }

  @Test
  void aNewJobBeyondTheCapacityIsRefusedAndAnExistingOneIsNot(@TempDir Path directory)
      throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor full =
        new JobEditor(source, ConfigFixtures.parser(), clock, config -> "2 jobs wait already");
    assertThatThrownBy(() -> full.save("new", job("{\"owner\": \"a\"}"), -1, "a", ""))
        .hasMessage("job new is not taken: 2 jobs wait already")
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(RefusedException.Reason.FULL));
    full.save("other", job("{\"owner\": \"eve\"}"), -1, "eve", "");
    full.delete("nightly", -1, "eve", "");
    assertThat(read(source, "other").owner()).isEqualTo("eve");
  }

  @Test
  void aJobWithErrorsIsInvalidWithAllOfThem(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor editor = editor(source, clock);
    assertThatThrownBy(
            () ->
                editor.save(
                    "new",
                    job("{\n  \"priority\": \"x\",\n  \"command\": 7,\n  \"enabled\": 3\n}"),
                    -1,
                    "a",
                    ""))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(RefusedException.Reason.INVALID);
              assertThat(refused.problems())
                  .extracting(problem -> problem.path())
                  .contains("bistro_job->new.owner", "bistro_job->new.priority");
              assertThat(refused.problems())
                  .as("places in what was given")
                  .allSatisfy(problem -> assertThat(problem.at().file()).isEmpty())
                  .extracting(problem -> problem.at().line())
                  .contains(2, 4);
            });
  }

  @Test
  void versionsAreComparedAndGrowAndTheCreationStays(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor editor = editor(source, clock);
    JobEditor later = editor(source, InstantSource.fixed(Instant.ofEpochSecond(2_000)));
    editor.save("new", job("{\"owner\": \"a\", \"version_id\": 99}"), 0, "a", "");
    later.save("new", job("{\"owner\": \"b\"}"), 1, "b", "");
    Job now = read(source, "new");
    assertThat(List.of(now.versionId(), now.createTime(), now.modifyTime()))
        .containsExactly(2L, 1000L, 2000L);
    assertThatThrownBy(() -> editor.save("new", job("{\"owner\": \"c\"}"), 1, "c", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("has version 2, not version 1");
    assertThatThrownBy(() -> editor.save("new", job("{\"owner\": \"c\"}"), 0, "c", ""))
        .isInstanceOf(RefusedException.class);
    assertThat(read(source, "new").owner()).isEqualTo("b");
  }

  @Test
  void aChangeMayAskForANewJobOrForOneThatExists(@TempDir Path directory) throws Exception {
    JobEditor editor = editor(new FileConfigSource(file(directory, "site.json", ONE)), clock);
    // It exists, though it has no version.
    assertThatThrownBy(
            () -> editor.save("other", job("{\"owner\": \"c\"}"), JobVersions.NEW, "c", ""))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(RefusedException.Reason.STALE));
    assertThatThrownBy(
            () -> editor.save("no", job("{\"owner\": \"c\"}"), JobVersions.EXISTING, "c", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("job no does not exist");
    editor.save("new", job("{\"owner\": \"c\"}"), JobVersions.NEW, "c", "");
    editor.save("other", job("{\"owner\": \"c\"}"), JobVersions.EXISTING, "c", "");
    assertThat(editor.history("new")).hasSize(1);
    assertThat(editor.history("other")).as("and what it replaced").hasSize(2);
  }

  @Test
  void aJobIsCheckedWhereItStandsAndNothingIsWritten(@TempDir Path directory) throws Exception {
    Path file = file(directory, "site.json", ONE);
    JobEditor editor = editor(new FileConfigSource(file), clock);
    JobValidation bad =
        editor.check(
            "nightly", job("{\n  \"owner\": \"a\",\n  \"priority\": \"x\",\n  \"nmae\": 1\n}"));
    assertThat(bad.isValid()).isFalse();
    assertThat(bad.effective()).isNull();
    assertThat(bad.problems())
        .anySatisfy(
            problem -> {
              assertThat(problem.path()).isEqualTo("bistro_job->nightly.priority");
              assertThat(problem.at().line()).as("in the text that was given").isEqualTo(3);
            });
    JobValidation good = editor.check("brand_new", job("{\"owner\": \"a\"}"));
    assertThat(good.isValid()).isTrue();
    assertThat(Objects.requireNonNull(good.effective()).get("owner")).isEqualTo(Json.of("a"));
    assertThat(editor.check("brand_new", job("{\"owner\": \"a\", \"depends_on\": [\"gone\"]}")))
        .satisfies(check -> assertThat(check.problems()).isNotEmpty());
    assertThat(editor.check("a/../b", job("{\"owner\": \"a\"}")).isValid()).isFalse();
    assertThat(Files.readString(file)).isEqualTo(ONE);
    ConfigSource broken =
        new FileConfigSource(file(directory, "broken.json", "{\"bistro_settings\": 7}"));
    assertThat(editor(broken, clock).check("x", job("{\"owner\": \"a\"}")).problems())
        .anySatisfy(problem -> assertThat(problem.path()).isEqualTo("bistro_settings"));
  }

  @Test
  void valuesThatMayBeSecretsAreNotRepeated(@TempDir Path directory) throws Exception {
    JobEditor editor = editor(new FileConfigSource(file(directory, "site.json", ONE)), clock);
    for (String member :
        List.of(
            "\"task_subprocess\": {\"environment\": {\"1BAD\": \"S3CR3T\"}}",
            "\"task_subprocess\": {\"environment\": \"S3CR3T\"}",
            "\"call\": {\"http\": {\"url\": \"http://h\", \"headers\": \"S3CR3T\"}}")) {
      Json.Obj job = job("{\"owner\": \"a\", \"priority\": \"x\", " + member + "}");
      assertThat(editor.check("foo", job).problems())
          .as(member)
          .hasSizeGreaterThan(1)
          .noneMatch(problem -> problem.toString().contains("S3CR3T"))
          .noneMatch(problem -> String.valueOf(problem.value()).contains("S3CR3T"));
      assertThatThrownBy(() -> editor.save("foo", job, -1, "", ""))
          .isInstanceOf(RefusedException.class)
          .hasMessageNotContaining("S3CR3T");
    }
  }

  @Test
  void aJobWithErrorsIsRefusedAndNothingIsWritten(@TempDir Path directory) throws Exception {
    Path file = file(directory, "site.json", ONE);
    JobEditor editor = editor(new FileConfigSource(file), clock);
    assertThatThrownBy(
            () -> editor.save("bad", job("{\"owner\": \"a\", \"priority\": \"x\"}"), -1, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("priority");
    assertThatThrownBy(() -> editor.save("a/../b", job("{\"owner\": \"a\"}"), -1, "", ""))
        .isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> editor.delete("nothing", -1, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("there is no job nothing");
    assertThat(Files.readString(file)).isEqualTo(ONE);
  }

  @Test
  void deletedJobsCanBeBroughtBackAndVersionsGoOn(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor editor = editor(source, clock);
    editor.save("nightly", job("{\"owner\": \"eve\"}"), -1, "eve", "");
    JobEditor later = editor(source, InstantSource.fixed(Instant.ofEpochSecond(2_000)));
    editor.delete("nightly", 1, "eve", "not needed");
    assertThat(Files.readString(directory.resolve("site.json"))).doesNotContain("nightly\"");
    JobVersion back = later.rollBack("nightly", 1, "ann", "");
    assertThat(read(source, "nightly").createTime()).as("the same job").isEqualTo(1_000);
    assertThat(back.version()).isEqualTo(3);
    assertThat(read(source, "nightly").owner()).isEqualTo("eve");
    assertThat(editor.history("nightly"))
        .extracting(v -> v.version() + " " + v.author() + " " + (v.job() == null))
        .containsExactly("0  false", "1 eve false", "2 eve true", "3 ann false");
    assertThat(editor.rollBack("nightly", 0, "ann", "").version()).isEqualTo(4);
    assertThat(read(source, "nightly").owner()).as("as it was written").isEqualTo("ann");
    assertThat(editor.history("nightly")).hasSize(5);
    assertThatThrownBy(() -> editor.rollBack("nightly", 2, "", ""))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void aWriterThatOvertakesAnotherLeavesOneHistory(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor fast = editor(source, clock);
    AtomicBoolean overtaken = new AtomicBoolean();
    WritableConfigSource slow =
        new SlowHistory(
            source,
            () -> {
              if (!overtaken.getAndSet(true)) {
                fast.save("new", job("{\"owner\": \"b\"}"), 1, "bob", "second");
              }
            });
    editor(slow, clock).save("new", job("{\"owner\": \"a\"}"), 0, "ann", "first");
    assertThat(fast.history("new"))
        .extracting(v -> v.version() + " " + v.author() + " " + v.reason())
        .containsExactly("1 ann first", "2 bob second");
  }

  @Test
  void aJobSavedAgainDuringItsDeletionGetsTheNextVersion(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    AtomicReference<@Nullable JobEditor> deleting = new AtomicReference<>();
    AtomicReference<@Nullable JobVersion> saved = new AtomicReference<>();
    AtomicReference<@Nullable Thread> saving = new AtomicReference<>();
    WritableConfigSource slow =
        new SlowHistory(
            source,
            () -> {
              JobEditor editor = deleting.getAndSet(null);
              if (editor != null) {
                Thread thread =
                    new Thread(
                        () -> saved.set(editor.save("new", job("{\"owner\": \"b\"}"), 0, "b", "")));
                saving.set(thread);
                thread.start();
                await()
                    .until(
                        () ->
                            thread.getState() == Thread.State.WAITING
                                || thread.getState() == Thread.State.TERMINATED);
              }
            });
    JobEditor editor = editor(slow, clock);
    editor.save("new", job("{\"owner\": \"a\"}"), 0, "a", "");
    deleting.set(editor);

    assertThat(editor.delete("new", 1, "a", "").version()).isEqualTo(2);

    Objects.requireNonNull(saving.get()).join();
    assertThat(Objects.requireNonNull(saved.get()).version()).isEqualTo(3);
    assertThat(editor.history("new"))
        .extracting(v -> v.version() + (v.job() == null ? " deleted" : " saved"))
        .containsExactly("1 saved", "2 deleted", "3 saved");
  }

  @Test
  void aJobThatIsDeletedAndMadeAgainIsAnotherOne(@TempDir Path directory) throws Exception {
    FileConfigSource source = new FileConfigSource(file(directory, "site.json", ONE));
    JobEditor editor = editor(source, clock);
    JobEditor later = editor(source, InstantSource.fixed(Instant.ofEpochSecond(2_000)));
    editor.save("new", job("{\"owner\": \"a\"}"), 0, "a", "");
    later.delete("new", -1, "a", "");
    later.save("new", job("{\"owner\": \"a\"}"), 0, "a", "");
    assertThat(read(source, "new").createTime()).isEqualTo(2_000);
  }

  @Test
  void inADirectoryANewJobGetsAFileOfItsOwn(@TempDir Path directory) throws Exception {
    file(directory, "settings.json", SETTINGS);
    file(directory, "jobs.json", "{\"bistro_job->a\": {\"owner\": \"a\"}, \"bistro_job->b\": {}}");
    DirectoryConfigSource source = new DirectoryConfigSource(directory);
    JobEditor editor = editor(source, clock);
    editor.save("x:y", job("{\"owner\": \"a\"}"), 0, "", "");
    assertThat(directory.resolve("job-x%3Ay.json")).exists();
    editor.save("a", job("{\"owner\": \"new\"}"), -1, "", "");
    assertThat(read(source, "a").owner()).isEqualTo("new");
    editor.delete("x:y", -1, "", "");
    assertThat(directory.resolve("job-x%3Ay.json")).doesNotExist();
    editor.delete("b", -1, "", "");
    assertThat(directory.resolve("jobs.json")).content().doesNotContain("->b");
  }

  @Test
  void editorsAtTheSameTimeLoseNothing(@TempDir Path directory) throws Exception {
    Path file = file(directory, "site.json", ONE);
    int editors = 4;
    int each = 5;
    ExecutorService pool = Executors.newFixedThreadPool(editors);
    try {
      List<Callable<JobVersion>> work = new ArrayList<>();
      for (int e = 0; e < editors; e++) {
        JobEditor editor = editor(new FileConfigSource(file), clock);
        for (int i = 0; i < each; i++) {
          String name = "job" + e + "_" + i;
          work.add(() -> editor.save(name, job("{\"owner\": \"a\"}"), 0, "", ""));
        }
      }
      for (Future<JobVersion> future : pool.invokeAll(work)) {
        assertThat(future.get().version()).isEqualTo(1);
      }
    } finally {
      pool.shutdownNow();
    }
    Config config =
        new ConfigLoader(ConfigFixtures.parser()).load(new FileConfigSource(file).fetch()).value();
    assertThat(Objects.requireNonNull(config).jobs()).hasSize(2 + editors * each);
  }

  @Test
  void whatCannotBeWrittenIsRefused(@TempDir Path directory) throws Exception {
    Path file = file(directory, "site.json", ONE);
    Files.createDirectory(directory.resolve(".site.json.lock"));
    assertThatThrownBy(
            () ->
                editor(new FileConfigSource(file), clock)
                    .save("new", job("{\"owner\": \"a\"}"), -1, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("cannot be written");
  }

  /** Does something after each write, before the versions are in the history. */
  private record SlowHistory(WritableConfigSource source, Runnable between)
      implements WritableConfigSource {
    @Override
    public String name() {
      return source.name();
    }

    @Override
    public String directory() {
      return source.directory();
    }

    @Override
    public Text fetch() throws Unavailable, InterruptedException {
      return source.fetch();
    }

    @Override
    public String documentFor(String job) {
      return source.documentFor(job);
    }

    @Override
    public boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
        throws Unavailable, InterruptedException {
      return source.write(expected, documents);
    }

    @Override
    public void remember(List<JobVersion> versions) throws Unavailable {
      between.run();
      source.remember(versions);
    }

    @Override
    public List<JobVersion> history(String job) throws Unavailable {
      return source.history(job);
    }
  }
}
