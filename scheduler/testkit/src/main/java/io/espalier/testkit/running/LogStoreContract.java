package io.espalier.testkit.running;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogRetention;
import io.espalier.core.logs.LogStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of every {@link LogStore} (docs/design/bistro.md#output). */
public abstract class LogStoreContract {
  private static final long NOW = 1_800_000_000_123L;

  private LogStore store;

  protected abstract LogStore create() throws Exception;

  @SuppressWarnings("NullAway.Init")
  protected LogStoreContract() {}

  @BeforeEach
  void createStore() throws Exception {
    store = create();
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void linesAreKeptPerStreamWithJobNodeTimeAndText() {
    store.append(Stream.STDOUT, "job1", "node1", NOW, "out\n");
    store.append(Stream.STDERR, "job1", "node2", NOW + 1, "err");
    store.append(Stream.STATUSES, "job2", "node1", NOW + 2, "{}");
    assertThat(all(Stream.STDOUT))
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.job()).isEqualTo("job1");
              assertThat(line.node()).isEqualTo("node1");
              assertThat(line.timeMillis()).isEqualTo(NOW);
              assertThat(line.text()).isEqualTo("out\n");
              assertThat(line.id() >>> 32).isEqualTo(NOW / 1000);
            });
    assertThat(texts(Stream.STDERR)).containsExactly("err");
    assertThat(texts(Stream.STATUSES)).containsExactly("{}");
  }

  @Test
  void idsGrowAlsoWithinASecondAndWhenTheClockGoesBack() {
    for (long time : new long[] {NOW, NOW, NOW + 1, NOW - 60_000, NOW + 5000}) {
      store.append(Stream.STDOUT, "job", "node", time, "line\n");
    }
    assertThat(all(Stream.STDOUT)).extracting(LogLine::id).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void whatWasAppendedIsFoundAtOnce() {
    for (int i = 0; i < 200; i++) {
      store.append(Stream.STDOUT, "job", "node", NOW + i, "line " + i);
      LogPage newest = store.query(query(-1, false, 1, ""));
      assertThat(newest.lines()).extracting(LogLine::text).containsExactly("line " + i);
    }
  }

  @Test
  void jobsAndNodesAreChosenByName() {
    for (String job : List.of("a", "b", "c")) {
      for (String node : List.of("1", "2", "3")) {
        store.append(Stream.STDOUT, job, node, NOW, job + node);
      }
    }
    assertThat(texts(List.of("a", "c"), List.of())).hasSize(6);
    assertThat(texts(List.of(), List.of("2"))).containsExactly("a2", "b2", "c2");
    assertThat(texts(List.of("b"), List.of("3", "1"))).containsExactly("b1", "b3");
    assertThat(texts(List.of("no such job"), List.of())).isEmpty();
  }

  @Test
  void pagesGoOnInBothDirectionsUntilThereIsNoMore() {
    for (int i = 0; i < 25; i++) {
      store.append(Stream.STDOUT, "job", "node", NOW + 100L * i, "line " + i);
    }
    LogPage first = store.query(query(-1, true, 10, ""));
    assertThat(first.lines()).hasSize(10).last().extracting(LogLine::text).isEqualTo("line 9");
    LogPage second = store.query(query(first.nextId(), true, 10, ""));
    assertThat(second.lines()).hasSize(10).first().extracting(LogLine::text).isEqualTo("line 10");
    LogPage third = store.query(query(second.nextId(), true, 10, ""));
    assertThat(third.lines()).hasSize(5);
    assertThat(third.nextId()).isEqualTo(-1);
    LogPage back = store.query(query(second.nextId(), false, 100, ""));
    assertThat(back.lines()).hasSize(21).first().extracting(LogLine::text).isEqualTo("line 20");
  }

  @Test
  void aPageThatIsExactlyFullIsTheLast() {
    for (int i = 0; i < 10; i++) {
      store.append(Stream.STDOUT, "job", "node", NOW, "line " + i);
    }
    assertThat(store.query(query(-1, true, 10, "")).nextId()).isEqualTo(-1);
    assertThat(store.query(query(-1, false, 9, "")).nextId()).isNotEqualTo(-1);
  }

  /**
   * Bistro stopped at the first page that the filter had shortened (docs/design/bistro.md#output).
   */
  @Test
  void pagingWithARegexReturnsAllMatches() {
    for (int i = 0; i < 1000; i++) {
      store.append(Stream.STDOUT, "job", "node", NOW + i, (i % 37 == 5 ? "needle " : "hay ") + i);
    }
    for (boolean ascending : new boolean[] {true, false}) {
      List<String> found = new ArrayList<>();
      long from = -1;
      do {
        LogPage page = store.query(query(from, ascending, 4, "ne+dle \\d+$"));
        assertThat(page.lines().size()).isLessThanOrEqualTo(4);
        page.lines().forEach(line -> found.add(line.text()));
        from = page.nextId();
      } while (from != -1);
      assertThat(found).hasSize(27).allMatch(text -> text.startsWith("needle"));
      assertThat(found).doesNotHaveDuplicates();
    }
  }

  @Test
  void anyTextIsKept() {
    String text = "nul \0, quote ', \uD83C\uDF33, \uFFFD and 2028: \u2028\n";
    String name = "job '; DROP TABLE stdout; -- \u00e9/..";
    store.append(Stream.STDOUT, name, name, NOW, text);
    LogPage page =
        store.query(LogQuery.of(Stream.STDOUT).withJobs(List.of(name)).withNodes(List.of(name)));
    assertThat(page.lines()).extracting(LogLine::text).containsExactly(text);
  }

  /** Verifies P20 (docs/design/bistro.md#conformance-of-tasks). */
  @Test
  void pruningDeletesWhatIsOlder() {
    for (int i = 0; i < 12_000; i++) {
      store.append(Stream.STDOUT, "job", "node", NOW + i, "line " + i);
    }
    store.append(Stream.STATUSES, "job", "node", NOW, "{}");
    keepSince(NOW + 11_990);
    assertThat(all(Stream.STDOUT))
        .hasSize(10)
        .first()
        .extracting(LogLine::text)
        .isEqualTo("line 11990");
    assertThat(all(Stream.STATUSES)).isEmpty();
    keepSince(NOW + 12_000);
    assertThat(all(Stream.STDOUT)).isEmpty();
  }

  private void keepSince(long millis) {
    store.apply(new LogPolicy(new LogRetention(1000, 0), List.of()));
    store.prune(millis + 1000);
  }

  private static LogQuery query(long from, boolean ascending, int limit, String regex) {
    return LogQuery.of(Stream.STDOUT)
        .withFrom(from)
        .withAscending(ascending)
        .withLimit(limit)
        .withRegex(regex);
  }

  private List<LogLine> all(Stream stream) {
    return store.query(LogQuery.of(stream).withLimit(100_000)).lines();
  }

  private List<String> texts(Stream stream) {
    return all(stream).stream().map(LogLine::text).toList();
  }

  private List<String> texts(List<String> jobs, List<String> nodes) {
    return store.query(LogQuery.of(Stream.STDOUT).withJobs(jobs).withNodes(nodes)).lines().stream()
        .map(LogLine::text)
        .toList();
  }
}
