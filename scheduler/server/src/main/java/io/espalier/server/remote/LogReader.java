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

/** Where the output of tasks is read, wherever it lies. Thread-safe; nothing blocks the caller. */
public interface LogReader {
  /** A page of lines. */
  CompletionStage<LogPage> query(LogQuery query);

  /**
   * What is new for somebody who follows.
   *
   * @param query ascending; its {@code from} is for stores without a position, -1: begin behind
   *     what they have now
   * @param positions of the last answer; at first empty
   */
  CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions);

  /**
   * Reads one store.
   *
   * @param blocking where it may wait for the disk
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

  /** Asks for the last line, whatever it says. */
  static LogQuery newest(LogQuery query) {
    return query.withRegex("").withFrom(-1).withOrder(false).withLimit(1);
  }
}
