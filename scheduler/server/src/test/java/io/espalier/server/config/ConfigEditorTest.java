package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.json.JsonReader;
import io.espalier.server.config.ConfigEditor.Edited;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of many jobs at once; sources other than files have their own tests. */
class ConfigEditorTest {
  private static final String SETTINGS =
      "\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\"], \"node_sources\":"
          + " [{\"source\": \"empty\"}]}, \"resources\": {}}";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private ConfigSource source = new FileConfigSource(Path.of("none"));

  @BeforeEach
  void write() throws IOException {
    write(
        "site.json",
        "{\n  // ours\n  " + SETTINGS + ",\n  \"bistro_job->old\": {\"owner\": \"ann\"}\n}\n");
    write("job-two.json", "{\"bistro_job->two\": {\"owner\": \"bob\", \"create_time\": 5}}\n");
    source = new DirectoryConfigSource(directory);
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }

  private ConfigEditor editor() {
    InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(1_000));
    return new ConfigEditor(new JobEditor(source, ConfigFixtures.parser(), clock));
  }

  private static ConfigChange change(String members, boolean prune) {
    return new ConfigChange(
        (Json.Obj) Objects.requireNonNull(JsonReader.parse("{" + members + "}").value()), prune);
  }

  @Test
  void jobsAreSavedAndPrunedAtOnceAndTheRestStays() throws IOException {
    Edited edited =
        editor()
            .edit(
                change(
                    "\"bistro_job->two\": {\"owner\": \"eve\", \"create_time\": 9},"
                        + " \"bistro_job->new\": {\"owner\": \"joe\"}",
                    true));
    assertThat(edited.problems()).noneMatch(Problem::isError);
    List<JobVersion> versions = Objects.requireNonNull(editor().write(edited, "ann", "because"));
    assertThat(versions).extracting(JobVersion::name).containsExactly("two", "new", "old");
    assertThat(versions.get(2).job()).isNull();
    assertThat(directory.resolve("site.json"))
        .content()
        .startsWith("{\n  // ours\n  " + SETTINGS)
        .doesNotContain("->old");
    // The job is the one that it was, so its statuses stay.
    assertThat(directory.resolve("job-two.json"))
        .content()
        .contains("\"owner\": \"eve\"", "\"create_time\": 5", "\"version_id\": 1");
    assertThat(directory.resolve("job-new.json")).content().contains("joe");
    assertThat(
            new JobEditor(source, ConfigFixtures.parser(), InstantSource.system()).history("old"))
        .extracting(JobVersion::reason)
        .containsExactly("as it was written in the configuration", "because");
  }

  @Test
  void theVersionsOfAllJobsAreRememberedAtOnce() {
    List<List<String>> remembered = new ArrayList<>();
    DirectoryConfigSource files = new DirectoryConfigSource(directory);
    WritableConfigSource counting =
        new WritableConfigSource() {
          @Override
          public String name() {
            return files.name();
          }

          @Override
          public String directory() {
            return files.directory();
          }

          @Override
          public Text fetch() throws Unavailable, InterruptedException {
            return files.fetch();
          }

          @Override
          public String documentFor(String job) {
            return files.documentFor(job);
          }

          @Override
          public boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
              throws Unavailable, InterruptedException {
            return files.write(expected, documents);
          }

          @Override
          public void remember(List<JobVersion> versions) throws Unavailable {
            remembered.add(versions.stream().map(v -> v.name() + " " + v.version()).toList());
            files.remember(versions);
          }

          @Override
          public List<JobVersion> history(String job) {
            throw new AssertionError("one job at a time");
          }

          @Override
          public Map<String, List<JobVersion>> histories(Collection<String> jobs)
              throws Unavailable {
            return files.histories(jobs);
          }
        };
    source = counting;
    Edited edited = editor().edit(change("\"bistro_job->new\": {\"owner\": \"joe\"}", true));
    assertThat(editor().write(edited, "ann", "")).hasSize(3);
    assertThat(remembered).containsExactly(List.of("two 0", "old 0", "new 1", "two 1", "old 1"));
  }

  @Test
  void thousandsOfJobsOfOneFileAreSavedAndDeletedAtOnce() throws IOException {
    Path file = directory.resolve("site.json");
    source = new FileConfigSource(file);
    for (String owner : List.of("ann", "bob", "")) {
      StringBuilder jobs = new StringBuilder(SETTINGS);
      for (int i = 0; i < 1_000 && !owner.isEmpty(); i++) {
        jobs.append(", \"bistro_job->n").append(i).append("\": {\"owner\": \"");
        jobs.append(owner).append("\"}");
      }
      Edited edited = editor().edit(change(jobs.toString(), owner.isEmpty()));
      assertThat(edited.problems()).noneMatch(Problem::isError);
      assertThat(editor().write(edited, "ann", "because")).hasSizeBetween(1_000, 1_001);
    }
    assertThat(file).content().startsWith("{\n  // ours\n  " + SETTINGS).doesNotContain("->n");
    assertThat(
            new JobEditor(source, ConfigFixtures.parser(), InstantSource.system()).history("n999"))
        .extracting(JobVersion::version)
        .containsExactly(1L, 2L, 3L);
  }

  @Test
  void aJobThatIsNullIsDeletedAndTheOthersStay() throws IOException {
    Edited edited =
        editor().edit(change("\"bistro_job->old\": null, \"bistro_job->unknown\": null", false));
    assertThat(edited.problems()).noneMatch(Problem::isError);
    assertThat(edited.members()).containsOnlyKeys("bistro_job->old");
    editor().write(edited, "ann", "because");
    assertThat(directory.resolve("site.json")).content().doesNotContain("->old");
    assertThat(directory.resolve("job-two.json")).content().contains("bob");
  }

  @Test
  void whatIsEqualButForItsVersionIsNotWritten() {
    ConfigChange same =
        change(
            SETTINGS
                + ", \"bistro_job->two\": {\"version_id\": 7, \"owner\": \"bob\"},"
                + " \"$schema\": \"x\"",
            false);
    assertThat(editor().edit(same).members()).isEmpty();
  }

  @Test
  void anEditInBetweenIsNotWrittenOver() throws IOException {
    Edited edited = editor().edit(change("\"bistro_job->new\": {\"owner\": \"joe\"}", false));
    write("job-two.json", "{\"bistro_job->two\": {\"owner\": \"mallory\"}}\n");
    assertThat(editor().write(edited, "", "")).isNull();
    assertThat(directory.resolve("job-new.json")).doesNotExist();
  }

  @Test
  void everythingThatIsWrongIsTold() {
    Edited edited =
        editor()
            .edit(
                change(
                    "\"bistro_job->two\": {\"owner\": \"o\", \"priority\": \"x\", \"prioritty\":"
                        + " 1}, \"bistro_job->a/b\": {\"owner\": \"a\"}, \"bistro_jobs\": {}",
                    false));
    assertThat(edited.problems().stream().filter(Problem::isError).map(Problem::path))
        .contains("bistro_job->two.priority");
    assertThat(edited.problems()).anyMatch(problem -> problem.path().contains("prioritty"));
    assertThat(edited.problems()).anyMatch(problem -> problem.path().contains("a/b"));
    assertThat(edited.problems()).anyMatch(problem -> problem.path().contains("bistro_jobs"));
  }

  @Test
  void aDeletionThatBreaksAnotherJobIsTold() throws IOException {
    write("job-two.json", "{\"bistro_job->two\": {\"owner\": \"b\", \"depends_on\": [\"old\"]}}");
    Edited edited =
        editor()
            .edit(
                change(
                    "\"bistro_job->two\": {\"owner\": \"b\", \"depends_on\":" + " [\"old\"]}",
                    true));
    assertThat(edited.problems()).anyMatch(problem -> problem.path().startsWith("bistro_job->two"));
  }

  @Test
  void yamlIsNotWritten() throws IOException {
    write("more.yaml", "espalier: v1\njobs:\n  three: {owner: ann}\n");
    Edited edited = editor().edit(change("\"bistro_job->three\": {\"owner\": \"joe\"}", false));
    assertThat(edited.problems()).noneMatch(Problem::isError);
    RefusedException refused =
        catchThrowableOfType(RefusedException.class, () -> editor().write(edited, "", ""));
    assertThat(refused).hasMessageContaining("written in YAML");
    assertThat(refused.reason()).isEqualTo(RefusedException.Reason.UNSUPPORTED);
  }
}
