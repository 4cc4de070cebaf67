package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shares of queues in real time, as the recording of the scheduler tells. */
class FairShareIT {
  /** Until use has become history: starts, not seconds. */
  private static final int AT_FIRST = 100;

  private static final int LOOKED_AT = 250;

  @Test
  void of_two_queues_with_factors_1_and_9_one_starts_three_times_as_many(@TempDir Path directory)
      throws IOException {
    Site site =
        new Site(directory)
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["n"], "node_sources": [
                    {"source": "range_label",
                     "prefs": {"parent_level": "instance", "start": 1, "end": 300}}]},
                  "scheduler": "fair_share", "priority_half_life_sec": 0.2,
                  "resources": {"instance": {"slots": {"limit": 8, "default": 1}}},
                  "queues": {"often": {"priority_factor": 1}, "seldom": {"priority_factor": 9}}},
                 "bistro_job->often": {"owner": "e2e", "queue": "often", "command": ["x"]},
                 "bistro_job->seldom": {"owner": "e2e", "queue": "seldom", "command": ["x"]}}
                """);
    Ended run =
        site.run("--runner", "simulated", "--test-task-duration", "30", "--record", "run.rec");
    assertThat(run.code()).as(run.stderr()).isZero();
    assertThat(number(run.json(), "jobs", "often", "done")).isEqualTo(300);
    assertThat(number(run.json(), "jobs", "seldom", "done")).isEqualTo(300);

    List<String> starts = starts(site.file("run.rec"));
    assertThat(starts).hasSize(600);
    List<String> some = starts.subList(AT_FIRST, AT_FIRST + LOOKED_AT);
    // Three quarters are 187; the history is a few half-lives long and tasks are of many lengths.
    assertThat(Collections.frequency(some, "often"))
        .as("starts of the first job")
        .isBetween(160, 215);
  }

  /** The job of every start, in order. */
  private static List<String> starts(Path recording) throws IOException {
    List<String> starts = new ArrayList<>();
    try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(recording))) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.split("\n", -1)) {
        if (line.startsWith("[\"start\"")) {
          Json.Arr start = (Json.Arr) Objects.requireNonNull(JsonReader.parse(line).value());
          starts.add(Site.text(start, "2"));
        }
      }
      return starts;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
