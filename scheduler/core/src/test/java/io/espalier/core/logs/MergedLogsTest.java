package io.espalier.core.logs;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.logs.LogLine.Stream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages of several stores make one (docs/design/bistro.md#log-queries). */
class MergedLogsTest {
  private static LogLine line(String worker, long id) {
    return new LogLine(id, Stream.STDOUT, "job", worker, id, worker + id);
  }

  /** A store that answers from a list, and now and then with less than it could. */
  private static LogPage page(List<LogLine> lines, LogQuery query, Random random) {
    Comparator<LogLine> byId = Comparator.comparingLong(LogLine::id);
    List<LogLine> rest =
        lines.stream()
            .filter(query::wants)
            .sorted(query.ascending() ? byId : byId.reversed())
            .toList();
    int size = Math.min(query.limit(), rest.size());
    if (random.nextInt(3) == 0 && size > 0 && query.from() >= 0) {
      // Its work was used up; but it got on.
      size = 1 + random.nextInt(size);
      if (rest.get(0).id() != query.from()) {
        size = random.nextInt(size + 1);
      }
    }
    return new LogPage(
        rest.subList(0, size), size < rest.size() ? rest.get(size).id() : LogPage.END);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void pagesOfSeveralStoresHoldEveryLineOnceInOrder(long seed) {
    Random random = new Random(seed);
    Map<String, List<LogLine>> stores = new TreeMap<>();
    for (int s = 0; s <= random.nextInt(6); s++) {
      Set<Long> ids = new HashSet<>();
      int count = random.nextInt(150);
      while (ids.size() < count) {
        // Few enough that stores share ids.
        ids.add((long) random.nextInt(400));
      }
      List<LogLine> lines = new ArrayList<>();
      String name = "worker" + s;
      ids.forEach(id -> lines.add(line(name, id)));
      stores.put(name, lines);
    }
    for (boolean ascending : new boolean[] {true, false}) {
      LogQuery query =
          LogQuery.of(Stream.STDOUT).withAscending(ascending).withLimit(1 + random.nextInt(40));
      List<LogLine> found = new ArrayList<>();
      long from = -1;
      int calls = 0;
      do {
        LogQuery next = query.withFrom(from);
        Map<String, LogPage> pages = new HashMap<>();
        LogQuery each = next.withLimit(MergedLogs.limitOfEach(next.limit(), stores.size()));
        stores.forEach((name, lines) -> pages.put(name, page(lines, each, random)));
        LogPage merged = MergedLogs.merge(next, pages, Map.of());
        assertThat(merged.lines().size())
            .isLessThanOrEqualTo(Math.max(query.limit(), stores.size()));
        found.addAll(merged.lines());
        from = merged.nextId();
        assertThat(++calls).isLessThan(5000);
      } while (from != LogPage.END);
      Comparator<LogLine> byId = Comparator.comparingLong(LogLine::id);
      List<LogLine> all = new ArrayList<>();
      stores.values().forEach(all::addAll);
      all.sort(
          (ascending ? byId : byId.reversed()).thenComparing(Comparator.comparing(LogLine::node)));
      assertThat(found).isEqualTo(all);
    }
  }

  @Test
  void unreachableWorkersAreNamed() {
    LogQuery query = LogQuery.of(Stream.STDOUT);
    LogPage merged =
        MergedLogs.merge(
            query,
            Map.of(
                "w1", new LogPage(List.of(line("w1", 5)), LogPage.END),
                "w2", new LogPage(List.of(line("w2", 3)), LogPage.END, List.of("disk: full"))),
            Map.of("w4", "does not answer", "w3", "unhealthy"));
    assertThat(merged.lines()).extracting(LogLine::id).containsExactly(3L, 5L);
    assertThat(merged.nextId()).isEqualTo(LogPage.END);
    assertThat(merged.missing())
        .containsExactly("disk: full", "w3: unhealthy", "w4: does not answer");
  }

  @Test
  void theFirstStoreThatHasMoreEndsThePage() {
    LogQuery query = LogQuery.of(Stream.STDOUT);
    LogPage merged =
        MergedLogs.merge(
            query,
            Map.of(
                "w1", new LogPage(List.of(line("w1", 1), line("w1", 9)), LogPage.END),
                "w2", new LogPage(List.of(), 4)),
            Map.of());
    assertThat(merged.lines()).extracting(LogLine::id).containsExactly(1L);
    assertThat(merged.nextId()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whoFollowsGetsEveryLineOnceAlthoughClocksDifferAndStoresComeAndGo(long seed) {
    Random random = new Random(seed);
    Map<String, List<LogLine>> stores = new TreeMap<>();
    Map<String, Long> clocks = new HashMap<>();
    Map<String, Long> positions = Map.of();
    List<LogLine> seen = new ArrayList<>();
    boolean more = true;
    for (int look = 0; look < 60 || more; look++) {
      if (look < 50 && random.nextInt(10) == 0) {
        String name = "worker" + stores.size();
        stores.put(name, new ArrayList<>());
        clocks.put(name, (long) random.nextInt(1_000));
      }
      Map<String, LogPage> pages = new HashMap<>();
      Map<String, String> unreachable = new HashMap<>();
      for (String name : stores.keySet()) {
        for (int i = random.nextInt(10); look < 50 && i > 0; i--) {
          long id = clocks.merge(name, 1L + random.nextInt(20), Long::sum);
          stores.get(name).add(line(name, id));
        }
        if (look < 50 && random.nextInt(5) == 0) {
          unreachable.put(name, "away");
        } else {
          LogQuery query =
              LogQuery.of(Stream.STDOUT).withLimit(7).withFrom(positions.getOrDefault(name, 0L));
          pages.put(name, page(stores.get(name), query, random));
        }
      }
      LogPage page = MergedLogs.followed(0, positions, pages, unreachable);
      assertThat(page.missing()).hasSameSizeAs(unreachable.keySet());
      seen.addAll(page.lines());
      positions = page.positions();
      more = page.nextId() != LogPage.END;
    }
    List<LogLine> written = new ArrayList<>();
    stores.values().forEach(written::addAll);
    assertThat(seen).containsExactlyInAnyOrderElementsOf(written);
  }
}
