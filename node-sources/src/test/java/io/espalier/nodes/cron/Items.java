package io.espalier.nodes.cron;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/** Short ways to schedules for tests; quotes are single. */
final class Items {
  static final ZoneId PACIFIC = ZoneId.of("America/Los_Angeles");

  private Items() {}

  static Json json(String text) {
    Result<Json> read = JsonReader.config().read(text.replace('\'', '"'));
    assertThat(read.problems()).isEmpty();
    return Objects.requireNonNull(read.value());
  }

  static CronSchedule schedule(String text, ZoneId zone) {
    List<Problem> problems = new ArrayList<>();
    CronSchedule schedule =
        ScheduleReader.read(json(text), "cron", null, "dst_fixes", zone, problems::add);
    assertThat(problems).isEmpty();
    return Objects.requireNonNull(schedule);
  }

  /** The problems as {@code path: message}. */
  static List<String> problems(String text) {
    List<Problem> problems = new ArrayList<>();
    CronSchedule schedule =
        ScheduleReader.read(json(text), "cron", null, "dst_fixes", PACIFIC, problems::add);
    if (!problems.isEmpty()) {
      assertThat(schedule).isNull();
    }
    return problems.stream().map(p -> p.path() + ": " + p.message()).toList();
  }

  /** The next event; -1 when there is none. */
  static long next(CronSchedule schedule, long from) {
    OptionalLong next = schedule.next(from);
    next.ifPresent(event -> assertThat(event).isGreaterThanOrEqualTo(from));
    return next.orElse(-1);
  }

  /** The first events, one after the other. */
  static List<Long> events(CronSchedule schedule, long from, int count) {
    List<Long> events = new ArrayList<>();
    long at = from;
    for (int i = 0; i < count; i++) {
      long next = next(schedule, at);
      if (next < 0) {
        break;
      }
      events.add(next);
      at = next + 1;
    }
    return events;
  }
}
