package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.espalier.core.config.Config;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ConfigPollerTest {
  private static final Instant START = Instant.parse("2026-11-21T00:00:00Z");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final List<ConfigSnapshot> published = new CopyOnWriteArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private volatile Instant now = START;

  @BeforeEach
  void listenToTheLog() {
    log.start();
    ((Logger) LoggerFactory.getLogger(ConfigPoller.class)).addAppender(log);
  }

  @AfterEach
  void stopListening() {
    ((Logger) LoggerFactory.getLogger(ConfigPoller.class)).detachAppender(log);
  }

  private Path file() {
    return directory.resolve("c.json");
  }

  private void write(String text) throws IOException {
    Files.writeString(file(), text);
  }

  private static String config(double workingWait, String... jobs) {
    StringBuilder out =
        new StringBuilder(
            "{\"bistro_settings\": {\"working_wait\": "
                + workingWait
                + ", \"nodes\": {\"levels\": []}, \"resources\": {}}");
    for (int i = 0; i < jobs.length; i += 2) {
      out.append(",\n\"bistro_job->").append(jobs[i]).append("\": ").append(jobs[i + 1]);
    }
    return out.append("}").toString();
  }

  private static final String JOB = "{\"owner\": \"o\"}";

  private ConfigPoller poller() {
    return new ConfigPoller(
        new FileConfigSource(file()), ConfigFixtures.parser(), () -> now, published::add);
  }

  private boolean poll(ConfigPoller poller) throws InterruptedException {
    now = now.plus(ConfigPoller.PERIOD);
    return poller.poll(now);
  }

  private static Config inForce(ConfigPoller poller) {
    return Objects.requireNonNull(poller.current().config());
  }

  private List<String> logged() {
    List<String> lines = new ArrayList<>();
    log.list.forEach(event -> lines.add(event.getFormattedMessage()));
    log.list.clear();
    return lines;
  }

  @Test
  void theFirstPollAppliesAndFurtherOnesAreSilent() throws Exception {
    write(config(1, "j", JOB));
    ConfigPoller poller = poller();
    assertThat(poller.current()).isEqualTo(ConfigSnapshot.NONE);
    assertThat(poll(poller)).isTrue();
    assertThat(inForce(poller).jobs()).containsOnlyKeys("j");
    assertThat(poller.current().version()).isEqualTo(1);
    assertThat(poller.current().stale()).isFalse();
    assertThat(poll(poller)).isFalse();
    assertThat(poller.current().confirmedAt()).isEqualTo(now);
    assertThat(published).hasSize(1);
  }

  @Test
  void aChangeAppliesWhenTwoPollsHaveSeenIt() throws Exception {
    write(config(1));
    ConfigPoller poller = poller();
    poll(poller);
    write(config(2));
    assertThat(poll(poller)).isFalse();
    assertThat(inForce(poller).settings().workingWait()).isEqualTo(Duration.ofSeconds(1));
    assertThat(poll(poller)).isTrue();
    assertThat(inForce(poller).settings().workingWait()).isEqualTo(Duration.ofSeconds(2));
    assertThat(ConfigPoller.PERIOD.multipliedBy(2)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void aFileThatIsStillBeingWrittenIsLeftAlone() throws Exception {
    write(config(1));
    ConfigPoller poller = poller();
    poll(poller);
    String text = config(2, "j", JOB);
    for (int length = 0; length < text.length(); length += 20) {
      write(text.substring(0, length));
      assertThat(poll(poller)).isFalse();
    }
    write(text);
    poll(poller);
    assertThat(poll(poller)).isTrue();
    assertThat(published).as("nothing of the halves was ever shown").hasSize(2);
    assertThat(inForce(poller).jobs()).containsOnlyKeys("j");
  }

  @Test
  void equalAndEarlierTimesOfTheFileHideNothing() throws Exception {
    write(config(1));
    FileTime time = Files.getLastModifiedTime(file());
    ConfigPoller poller = poller();
    poll(poller);
    write(config(2));
    Files.setLastModifiedTime(file(), time);
    poll(poller);
    assertThat(poll(poller)).isTrue();
    write(config(3));
    Files.setLastModifiedTime(file(), FileTime.fromMillis(time.toMillis() - 86_400_000));
    poll(poller);
    assertThat(poll(poller)).isTrue();
    assertThat(inForce(poller).settings().workingWait()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void aNewTimeAloneChangesNothing() throws Exception {
    write(config(1));
    ConfigPoller poller = poller();
    poll(poller);
    Files.setLastModifiedTime(file(), FileTime.from(START.plusSeconds(500)));
    assertThat(poll(poller)).isFalse();
    assertThat(poll(poller)).isFalse();
  }

  @Test
  void brokenSettingsKeepTheLastGoodConfigurationAndShowTheirAge() throws Exception {
    write(config(1, "j", JOB));
    ConfigPoller poller = poller();
    poll(poller);
    Instant good = now;
    write(config(-1, "j", JOB));
    poll(poller);
    assertThat(poll(poller)).isTrue();
    ConfigSnapshot snapshot = poller.current();
    assertThat(snapshot.stale()).isTrue();
    assertThat(snapshot.version()).isEqualTo(1);
    assertThat(inForce(poller).settings().workingWait()).isEqualTo(Duration.ofSeconds(1));
    assertThat(snapshot.problems())
        .extracting(Problem::path)
        .containsExactly("bistro_settings.working_wait");
    assertThat(snapshot.inForceSince()).isEqualTo(good);
    assertThat(snapshot.age(now)).isEqualTo(Duration.between(good, now));
    assertThat(poll(poller)).as("said once").isFalse();
    write(config(1, "j", JOB));
    poll(poller);
    assertThat(poll(poller)).as("the old text is good news now").isTrue();
    assertThat(poller.current().stale()).isFalse();
    assertThat(poller.current().problems()).isEmpty();
    assertThat(poller.current().age(now)).isZero();
  }

  @Test
  void aMissingFileKeepsTheLastGoodConfigurationToo() throws Exception {
    write(config(1));
    ConfigPoller poller = poller();
    poll(poller);
    Files.delete(file());
    poll(poller);
    assertThat(poll(poller)).isTrue();
    assertThat(poller.current().stale()).isTrue();
    assertThat(inForce(poller)).isNotNull();
    assertThat(poller.current().problems().get(0).message()).contains("no such file");
  }

  @Test
  void withoutAnyGoodConfigurationThereIsNoneAndTheProblemIsShown() throws Exception {
    ConfigPoller poller = poller();
    assertThat(poll(poller)).isTrue();
    assertThat(poller.current().config()).isNull();
    assertThat(poller.current().version()).isZero();
    assertThat(poller.current().problems()).hasSize(1);
    write(config(1));
    poll(poller);
    assertThat(poll(poller)).isTrue();
    assertThat(poller.current().version()).isEqualTo(1);
  }

  @Test
  void aBrokenJobDisablesOnlyItself() throws Exception {
    write(config(1, "good", JOB, "bad", "{\"owner\": 1, \"priority\": []}"));
    ConfigPoller poller = poller();
    poll(poller);
    assertThat(poller.current().stale()).isFalse();
    assertThat(ConfigFixtures.job(inForce(poller), "good").canRun()).isTrue();
    assertThat(ConfigFixtures.job(inForce(poller), "bad").canRun()).isFalse();
    assertThat(poller.current().problems()).hasSize(1);
  }

  @Test
  void eachAddedChangedAndRemovedJobIsLoggedOnce() throws Exception {
    write(config(1, "a", JOB, "b", JOB, "c", JOB));
    ConfigPoller poller = poller();
    poll(poller);
    assertThat(logged())
        .contains("Job \"a\" added", "Job \"b\" added", "Job \"c\" added")
        .hasSize(4);
    write("\n" + config(1, "a", JOB, "b", "{\"owner\": \"p\"}", "d", "{\"owner\": []}"));
    poll(poller);
    poll(poller);
    poll(poller);
    assertThat(logged())
        .contains("Job \"b\" changed", "Job \"c\" removed")
        .anyMatch(line -> line.startsWith("Job \"d\" added, it cannot run"))
        .noneMatch(line -> line.contains("\"a\""))
        .hasSize(5);
  }

  @Test
  void aListenerThatFailsDoesNotStopThePolling() throws Exception {
    write(config(1));
    List<ConfigSnapshot> seen = new CopyOnWriteArrayList<>();
    try (ConfigPoller poller =
        new ConfigPoller(
            new FileConfigSource(file()),
            ConfigFixtures.parser(),
            InstantSource.system(),
            snapshot -> {
              seen.add(snapshot);
              throw new IllegalStateException("on purpose");
            })) {
      poller.start();
      await().until(() -> seen.size() == 1);
      write(config(2));
      await().until(() -> seen.size() == 2);
    }
  }

  @Test
  void aClockThatIsSetBackDoesNotStopThePolling() throws Exception {
    write(config(1));
    try (ConfigPoller poller = poller()) {
      poller.start();
      await().until(() -> published.size() == 1);
      now = START.minus(Duration.ofHours(1));
      write(config(2));
      await().until(() -> published.size() == 2);
    }
  }

  @Test
  void theThreadAppliesChangesOfFilesThatAreReplacedAtOnce() throws Exception {
    write(config(1));
    ConfigPoller poller =
        new ConfigPoller(
            new FileConfigSource(file()),
            ConfigFixtures.parser(),
            InstantSource.system(),
            published::add);
    try (poller) {
      poller.start();
      await().until(() -> published.size() == 1);
      Path next = Files.writeString(directory.resolve("next"), config(2));
      Files.move(next, file(), StandardCopyOption.ATOMIC_MOVE);
      await().until(() -> published.size() == 2);
      assertThat(inForce(poller).settings().workingWait()).isEqualTo(Duration.ofSeconds(2));
    }
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("config-poller"));
  }
}
