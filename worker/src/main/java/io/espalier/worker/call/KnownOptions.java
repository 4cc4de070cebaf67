package io.espalier.worker.call;

import io.espalier.core.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The options of calls by what is configured: all calls of a job have the same, so each is read
 * once. Options that were not asked for recently are forgotten, because jobs come and go as long as
 * a worker runs. Thread-safe.
 */
final class KnownOptions<T> {
  /** The options that are remembered at a time. */
  static final int MOST = 1_000;

  private final Function<Json.Obj, T> reader;
  private final Map<Json.Obj, T> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Json.Obj, T> eldest) {
          return size() > MOST;
        }
      };

  /**
   * @param reader reads options; throws {@link IllegalArgumentException} if they cannot be used
   */
  KnownOptions(Function<Json.Obj, T> reader) {
    this.reader = reader;
  }

  /**
   * Returns options as they are read.
   *
   * @throws IllegalArgumentException if they cannot be used
   */
  synchronized T of(Json.Obj options) {
    return known.computeIfAbsent(options, reader);
  }

  synchronized int size() {
    return known.size();
  }
}
