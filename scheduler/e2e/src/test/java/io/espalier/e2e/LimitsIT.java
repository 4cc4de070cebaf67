package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.e2e.Site.Note;
import io.espalier.e2e.TaskProcesses.Task;
import io.espalier.e2e.TaskProcesses.Watched;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No limit is ever passed, as the kernel and the tasks themselves see it. */
class LimitsIT {
  @Test
  void a_hundred_shards_below_a_host_with_two_slots_never_run_more_than_two_at_once(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "sleep 0.02")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_sources": [
                    {"source": "manual", "prefs": {"h1": []}},
                    {"source": "range_label",
                     "prefs": {"parent_level": "host", "start": 1, "end": 100}}]},
                  "resources": {"host": {"slots": {"limit": 2, "default": 1}}}},
                 "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    Watched<Ended> watched = processes.during(() -> site.run());
    Ended run = watched.result();
    Set<Set<Task>> seen = watched.seen();

    assertThat(run.code()).as(run.stderr()).isZero();
    assertThat(at(run.json(), "jobs", "scrub", "done")).isEqualTo(Json.of(100));
    assertThat(site.starts("scrub")).hasSize(100).allSatisfy((n, c) -> assertThat(c).isOne());
    assertThat(seen).allSatisfy(together -> assertThat(together).hasSizeLessThanOrEqualTo(2));
    assertThat(seen).as("the watch saw both slots used").anyMatch(together -> together.size() == 2);
    assertThat(peak(site.notes(), n -> true, n -> 1)).isEqualTo(2);
    assertThat(at(run.json(), "peak", "host", "slots"))
        .isEqualTo(Json.object().put("used", 2).put("limit", 2).put("node", "h1").build());
    assertThat(processes.alive()).isEmpty();
  }

  @Test
  void on_three_levels_with_two_resources_each_and_a_heavier_job_every_limit_holds(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "sleep 0.03")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["rack", "host", "disk"], "node_sources": [
                    {"source": "manual", "prefs": {"r1": [], "r2": []}},
                    {"source": "range_label",
                     "prefs": {"parent_level": "rack", "start": 1, "end": 3,
                               "format": "{parent}h{i}"}},
                    {"source": "range_label",
                     "prefs": {"parent_level": "host", "start": 1, "end": 8,
                               "format": "{parent}d{i}"}}]},
                  "resources": {
                    "rack": {"power": {"limit": 7, "default": 1}, "net": {"limit": 5, "default": 1}},
                    "host": {"io": {"limit": 3, "default": 1}, "mem": {"limit": 4, "default": 1}},
                    "disk": {"head": {"limit": 1, "default": 1}, "tmp": {"limit": 2, "default": 1}}}},
                 "bistro_job->light": {"owner": "e2e", "command": ["./task.sh"]},
                 "bistro_job->heavy": {"owner": "e2e", "command": ["./task.sh"],
                   "resources": {"power": 3, "io": 2, "mem": 3, "tmp": 2}}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    Watched<Ended> watched = processes.during(() -> site.run());
    Ended run = watched.result();
    Set<Set<Task>> seen = watched.seen();

    assertThat(run.code()).as(run.stderr()).isZero();
    assertThat(number(run.json(), "jobs", "light", "done")).isEqualTo(48);
    assertThat(number(run.json(), "jobs", "heavy", "done")).isEqualTo(48);
    record Limit(int nameLength, String resource, int limit, int light, int heavy) {}
    List<Limit> limits =
        List.of(
            new Limit(2, "power", 7, 1, 3),
            new Limit(2, "net", 5, 1, 1),
            new Limit(4, "io", 3, 1, 2),
            new Limit(4, "mem", 4, 1, 3),
            new Limit(6, "head", 1, 1, 1),
            new Limit(6, "tmp", 2, 1, 2));
    for (Limit limit : limits) {
      Set<String> names = ConcurrentHashMap.newKeySet();
      site.notes().forEach(n -> names.add(n.node().substring(0, limit.nameLength())));
      for (String name : names) {
        int peak =
            peak(
                site.notes(),
                n -> n.node().startsWith(name),
                n -> n.job().equals("heavy") ? limit.heavy() : limit.light());
        assertThat(peak)
            .as("%s on %s by the tasks' notes", limit, name)
            .isLessThanOrEqualTo(limit.limit());
        for (Set<Task> together : seen) {
          int used =
              together.stream()
                  .filter(t -> t.node().startsWith(name))
                  .mapToInt(t -> t.job().equals("heavy") ? limit.heavy() : limit.light())
                  .sum();
          assertThat(used)
              .as("%s on %s: %s", limit, name, together)
              .isLessThanOrEqualTo(limit.limit());
        }
      }
    }
    assertThat(number(run.json(), "peak", "rack", "power", "used")).isEqualTo(7);
    assertThat(number(run.json(), "peak", "host", "io", "used")).isEqualTo(3);
    assertThat(processes.alive()).isEmpty();
  }

  /** The highest sum of weights at one instant, from the notes that tasks wrote themselves. */
  private static int peak(List<Note> notes, Predicate<Note> of, ToIntFunction<Note> weight) {
    List<Note> sorted = new ArrayList<>(notes.stream().filter(of).toList());
    // An end at the same nanosecond as a start comes first.
    sorted.sort(Comparator.comparingLong(Note::nanos).thenComparing(Note::what));
    int now = 0;
    int peak = 0;
    for (Note note : sorted) {
      now += note.what().equals("start") ? weight.applyAsInt(note) : -weight.applyAsInt(note);
      peak = Math.max(peak, now);
    }
    return peak;
  }
}
