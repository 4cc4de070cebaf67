package io.espalier.server.remote;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.MergedLogs;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

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
   */
  CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions);

  /**
   * Creates a reader of one store.
   *
   * @param blocking runs reads that may wait for the disk
   */
  static LogReader of(LogStore store, Executor blocking) {
    return new LogReader() {
      @Override
      public CompletionStage<LogPage> query(LogQuery query) {
        return CompletableFuture.supplyAsync(() -> store.query(query), blocking);
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
    return query.withRegex("").withFrom(-1).withOrder(false).withLimit(1);
  }
}
