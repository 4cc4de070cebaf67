package io.espalier.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventSearchTest {
  /** How many events were read. */
  private long read;

  private final List<Event> log = new ArrayList<>();

  private List<Event> after(long sequence, int limit) {
    if (log.isEmpty()) {
      return List.of();
    }
    int from = (int) Math.max(0, sequence + 1 - log.get(0).sequence());
    int to = Math.min(log.size(), from + limit);
    List<Event> found = from < to ? log.subList(from, to) : List.of();
    read += found.size();
    return found;
  }

  private void log(int from, int to, int every) {
    for (int i = from; i <= to; i++) {
      String job = i % every == 0 ? "rare" : "j";
      log.add(new Event(i, i / 10, "job_state", Json.object().put("job", job).build()));
    }
  }

  private EventSearch search(long sinceMillis) {
    return new EventSearch(
        this::after, new EventFilter("rare"::equals, Set.of(), Set.of(), Set.of(), sinceMillis));
  }

  private static List<Long> sequences(EventSearch.Found found) {
    return found.events().stream().map(Event::sequence).toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 1_000, 2_501})
  void pagesInBothDirectionsHaveEachEventOnce(int every) {
    log(501, 5_500, every);
    List<Long> all =
        log.stream().map(Event::sequence).filter(sequence -> sequence % every == 0).toList();
    List<Long> forward = new ArrayList<>();
    for (long at = 0; at < 5_500; ) {
      EventSearch.Found found = search(0).after(at, 100);
      forward.addAll(sequences(found));
      at = found.to();
    }
    assertThat(forward).isEqualTo(all);
    List<Long> backward = new ArrayList<>();
    for (long at = 5_500; at > 500; ) {
      EventSearch.Found found = search(0).upTo(at, 100);
      backward.addAll(0, sequences(found));
      at = found.from();
    }
    assertThat(backward).isEqualTo(all);
  }

  @Test
  void aSearchEndsAtItsBoundAndSaysWhere() {
    log(1, 500_000, 500_000);
    EventSearch.Found forward = search(0).after(0, 5);
    assertThat(forward.events()).isEmpty();
    assertThat(forward.to()).isEqualTo(EventSearch.MOST_READ);
    assertThat(sequences(search(0).after(forward.to() * 2, 5))).containsExactly(500_000L);
    EventSearch.Found backward = search(0).upTo(499_999, 5);
    assertThat(backward.from()).isEqualTo(499_999 - EventSearch.MOST_READ);
    assertThat(read).isLessThan(3L * EventSearch.MOST_READ);
  }

  @Test
  void aTimeIsFoundWithoutReadingTheLog() {
    log(501, 100_000, 1);
    assertThat(search(0).before(0, 100_000)).isEqualTo(500);
    assertThat(search(0).before(2_000, 100_000)).isEqualTo(19_999);
    assertThat(search(0).before(1_000_000, 100_000)).isEqualTo(100_000);
    assertThat(read).isLessThan(100);
    assertThat(new EventSearch((sequence, limit) -> List.of(), EventFilter.ALL).before(5, 0))
        .isZero();
  }

  @Test
  void nothingIsFoundInAnEmptyLog() {
    assertThat(search(0).after(7, 5)).isEqualTo(new EventSearch.Found(List.of(), 7, 7));
    assertThat(search(0).upTo(0, 5)).isEqualTo(new EventSearch.Found(List.of(), 0, 0));
  }

  @Test
  void aFilterKnowsEventsAboutSeveralJobsAndTasks() {
    EventFilter jobs = new EventFilter("a"::equals, Set.of(), Set.of(), Set.of(), 0);
    assertThat(jobs.fits(event("job", Json.of("a")))).isTrue();
    assertThat(jobs.fits(event("job", Json.of("b")))).isFalse();
    assertThat(jobs.fits(event("jobs", Json.strings(List.of("b", "a"))))).isTrue();
    assertThat(jobs.fits(event("jobs", Json.of(3)))).isFalse();
    EventFilter nodes = new EventFilter(null, Set.of(), Set.of("n"), Set.of(), 0);
    Json task = new Json.Arr(List.of(Json.of("n"), Json.of(1)));
    assertThat(nodes.fits(event("tasks", new Json.Arr(List.of(task))))).isTrue();
    assertThat(nodes.fits(event("tasks", Json.strings(List.of("m", "n"))))).isTrue();
    assertThat(nodes.fits(event("tasks", Json.of(3)))).isFalse();
    assertThat(nodes.fits(event("node", Json.of("n")))).isTrue();
    assertThat(
            new EventFilter(null, Set.of(), Set.of(), Set.of(), 6).fits(event("job", Json.of("a"))))
        .isFalse();
  }

  @Test
  void theEventsOfASetAreThoseOfItsJobsAndOfItsBrakes() {
    EventFilter set = new EventFilter("a"::equals, Set.of("s"), Set.of(), Set.of(), 0);
    assertThat(set.fits(event("set", Json.of("s")))).isTrue();
    assertThat(set.fits(event("set", Json.of("t")))).isFalse();
    assertThat(set.fits(event("job", Json.of("a")))).isTrue();
    assertThat(set.fits(event("job", Json.of("b")))).isFalse();
    assertThat(set.fits(event("queue", Json.of("s")))).isFalse();
  }

  private static Event event(String member, Json value) {
    return new Event(1, 5, "x", Json.object().put(member, value).build());
  }
}
