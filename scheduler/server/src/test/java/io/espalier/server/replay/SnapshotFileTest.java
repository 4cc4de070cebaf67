package io.espalier.server.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SnapshotFileTest {
  private static final List<CoreEvent> EVENTS =
      List.of(
          new CoreEvent.Clock(1_000_000),
          new CoreEvent.Stepped(Integer.MAX_VALUE, true),
          new CoreEvent.StatusSet(0, 3, TaskStatus.of(TaskStatus.Main.DONE, 5_000, 1)),
          new CoreEvent.Adopted("j", "n", WorkerRef.LOCAL, "1.2", SchedulerSnapshot.run(0)));

  private static final SchedulerSnapshot SNAPSHOT =
      new SchedulerSnapshot(
          1_000_000,
          EVENTS,
          List.of(990_000L),
          Map.of("j", new JobPace(List.of(1L, 20L, 300L), 0.75)),
          List.of(brake("", "")),
          Map.of("j", 2_000_000L, "other", 0L));

  private static Brake brake(String author, String reason) {
    return Brake.of(new Brake.Key(Brake.Target.QUEUE, "", "q"), 250_000)
        .bases(Map.of("q", 7))
        .ramp(new Brake.Ramp(100_000, 60_000))
        .author(author)
        .reason(reason)
        .sinceMillis(900_000)
        .untilMillis(2_000_000)
        .build();
  }

  @Test
  void whatIsWrittenIsRead() {
    byte[] written = SnapshotFile.write(SNAPSHOT);
    SchedulerSnapshot read = SnapshotFile.read(written, ConfigFixtures.parser());
    assertThat(read.atMillis()).isEqualTo(SNAPSHOT.atMillis());
    assertThat(read.startedMillis()).isEqualTo(SNAPSHOT.startedMillis());
    assertThat(read.paces()).isEqualTo(SNAPSHOT.paces());
    assertThat(read.brakes()).isEqualTo(SNAPSHOT.brakes());
    assertThat(read.pauses()).isEqualTo(SNAPSHOT.pauses());
    List<CoreEvent> events = new ArrayList<>();
    read.events().forEach(events::add);
    assertThat(events).isEqualTo(EVENTS);
  }

  @Test
  void whatPeopleWroteAboutBrakesStaysAway() {
    SchedulerSnapshot told =
        new SchedulerSnapshot(
            1_000_000, EVENTS, List.of(), Map.of(), List.of(brake("ann", "because")), Map.of());
    SchedulerSnapshot read = SnapshotFile.read(SnapshotFile.write(told), ConfigFixtures.parser());
    assertThat(read.brakes()).containsExactly(brake("", ""));
  }

  @Test
  void whatIsCutOffOrNoneIsRefused() {
    byte[] written = SnapshotFile.write(SNAPSHOT);
    byte[] half = Arrays.copyOf(written, written.length - 30);
    assertThatThrownBy(() -> SnapshotFile.read(half, ConfigFixtures.parser()))
        .isInstanceOf(RecordedEvents.BadRecordingException.class);
    byte[] none = "This is no recording of anything.".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> SnapshotFile.read(none, ConfigFixtures.parser()))
        .isInstanceOf(RecordedEvents.BadRecordingException.class);
  }
}
