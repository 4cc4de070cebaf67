package io.espalier.core.logs;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Reads the output of tasks, wherever it is stored. Thread-safe; no method blocks the caller. */
public interface LogReader {
  /** Returns a page of lines. */
  CompletionStage<LogPage> query(LogQuery query);

  /**
   * Returns the new lines for a client that follows the output.
   *
   * @param query ascending; its {@code from} is for stores without a position, -1: begin after
   *     their current content
   * @param positions of the last answer; initially empty
   * @return a page with the positions for the next call
   */
  CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions);

  /**
   * Creates a reader of one store.
   *
   * @param pages returns a page of lines
   */
  static LogReader of(Function<LogQuery, CompletionStage<LogPage>> pages) {
    return new LogReader() {
      @Override
      public CompletionStage<LogPage> query(LogQuery query) {
        return pages.apply(query);
      }

      @Override
      public CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
        long from = positions.getOrDefault("", query.from());
        return from < 0
            ? query(newest(query))
                .thenApply(
                    page ->
                        new LogPage(
                            List.of(),
                            LogPage.END,
                            page.missing(),
                            Map.of("", MergedLogs.behind(page))))
            : query(query.withFrom(from))
                .thenApply(page -> MergedLogs.followed(from, Map.of(), Map.of("", page), Map.of()));
      }
    };
  }

  /** Returns a query for the last line, whatever it contains. */
  static LogQuery newest(LogQuery query) {
    return query.withRegex("").withFrom(-1).withAscending(false).withLimit(1);
  }
}
