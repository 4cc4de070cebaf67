package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import io.espalier.core.text.ShortText;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads lines of many schedulers on demand and merges them by time. */
public final class FleetLogs {
  private static final int AT_A_TIME = 64;
  private static final int MOST_PAGES = 5;
  private static final int MOST_LINES = 1_000;
  private static final int MOST_MISSING = 100;
  private static final int LONGEST_DETAIL = 1_000;
  private static final long GRACE_MILLIS = 300;

  private final FleetOptions options;
  private final FleetClient client;

  public FleetLogs(FleetOptions options, FleetClient client) {
    this.options = options;
    this.client = client;
  }

  /**
   * A query for lines.
   *
   * @param filters names and values of the parameters that schedulers know, without times
   * @param ascending oldest first
   * @param sinceMillis inclusive; 0: no limit
   * @param untilMillis exclusive; 0: no limit
   * @param cursor where an earlier answer ended
   */
  public record Query(
      Map<String, List<String>> filters,
      boolean ascending,
      int limit,
      long sinceMillis,
      long untilMillis,
      LogMerge.Cursor cursor) {}

  /**
   * Runs a query.
   *
   * @param hosts all schedulers that may have such lines
   * @param within time after which the answer contains only what has arrived
   */
  public CompletableFuture<Json> read(
      List<FleetSchedulerView> hosts, Query query, Duration within) {
    int wanted = query.limit() + query.cursor().skip();
    LogMerge merge = new LogMerge(query.ascending(), wanted);
    Map<String, SchedulerUnreachableException> missing = new TreeMap<>();
    for (FleetSchedulerView host : hosts) {
      missing.put(
          host.id(),
          new SchedulerUnreachableException(
              FleetSchedulerState.SLOW, true, "it had not answered by then"));
    }
    // Schedulers that did not answer the last time are queried too, but hardly waited for.
    List<FleetSchedulerView> quick = new ArrayList<>();
    List<FleetSchedulerView> others = new ArrayList<>();
    hosts.forEach(
        host -> (host.state() == FleetSchedulerState.ANSWERED ? quick : others).add(host));
    CompletableFuture<Void> further = each(others, query, wanted, merge, missing);
    return each(quick, query, wanted, merge, missing)
        .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
        .thenCompose(done -> further.completeOnTimeout(null, GRACE_MILLIS, TimeUnit.MILLISECONDS))
        .thenApplyAsync(
            done -> {
              Map<String, SchedulerUnreachableException> still;
              synchronized (missing) {
                still = new TreeMap<>(missing);
              }
              return answer(hosts.size(), merge.page(query.limit(), query.cursor()), still);
            },
            client.readers());
  }

  private CompletableFuture<Void> each(
      List<FleetSchedulerView> hosts,
      Query query,
      int wanted,
      LogMerge merge,
      Map<String, SchedulerUnreachableException> missing) {
    return Fanout.each(
        hosts,
        AT_A_TIME,
        client.readers(),
        host ->
            pages(host, query, Math.min(wanted, MOST_LINES), merge, "", 1)
                .handle(
                    (without, failure) -> {
                      synchronized (missing) {
                        if (failure != null) {
                          missing.put(host.id(), SchedulerUnreachableException.of(failure));
                        } else if (without.isEmpty()) {
                          missing.remove(host.id());
                        } else {
                          missing.put(host.id(), incomplete(without));
                        }
                      }
                      return null;
                    }));
  }

  /** Describes a scheduler that answered without the lines of some of its workers. */
  private static SchedulerUnreachableException incomplete(List<Json> without) {
    String those = without.stream().map(FleetLogs::text).collect(Collectors.joining("; "));
    return new SchedulerUnreachableException(
        FleetSchedulerState.ANSWERED, true, ShortText.shown("without " + those, LONGEST_DETAIL));
  }

  private static String text(@Nullable Json json) {
    return json instanceof Json.Str s ? s.value() : "";
  }

  /** Returns whose lines the scheduler could not read, and why, as its last page says it. */
  private CompletableFuture<List<Json>> pages(
      FleetSchedulerView host, Query query, int limit, LogMerge merge, String from, int number) {
    return client
        .get(host.address(), path(query, limit, from), options.receive())
        .thenCompose(
            json -> {
              if (!(json instanceof Json.Obj page)
                  || !(page.get("lines") instanceof Json.Arr lines)) {
                throw new SchedulerUnreachableException(
                    FleetSchedulerState.ERROR, true, "this is no page of lines");
              }
              String next = text(page.get("next"));
              boolean end = next.isEmpty() || lines.items().size() >= limit;
              merge.add(host.id(), lines.items());
              if (end) {
                return CompletableFuture.completedFuture(
                    page.get("missing") instanceof Json.Arr without ? without.items() : List.of());
              }
              // A page may be short because one call scans only a limited number of lines.
              if (number == MOST_PAGES) {
                throw new SchedulerUnreachableException(
                    FleetSchedulerState.SLOW,
                    true,
                    "not read to the end: narrow the time or the filter");
              }
              return pages(host, query, limit, merge, next, number + 1);
            });
  }

  private static String path(Query query, int limit, String from) {
    StringBuilder path =
        new StringBuilder("/api/v1/logs?limit=")
            .append(limit)
            .append("&order=")
            .append(query.ascending() ? "asc" : "desc");
    query
        .filters()
        .forEach(
            (name, values) ->
                values.forEach(
                    value ->
                        path.append('&')
                            .append(name)
                            .append('=')
                            .append(URLEncoder.encode(value, StandardCharsets.UTF_8))));
    long since = query.sinceMillis();
    long until = query.untilMillis();
    if (query.cursor().skip() > 0) {
      if (query.ascending()) {
        since = query.cursor().millis();
      } else {
        until = query.cursor().millis() + 1;
      }
    }
    if (since > 0) {
      path.append("&since_ms=").append(since);
    }
    if (until > 0) {
      path.append("&until_ms=").append(until);
    }
    return from.isEmpty() ? path.toString() : path.append("&from=").append(from).toString();
  }

  private static Json answer(
      int asked, LogMerge.Page page, Map<String, SchedulerUnreachableException> missing) {
    List<Json> list = new ArrayList<>();
    missing.forEach(
        (host, failure) -> {
          if (list.size() < MOST_MISSING) {
            list.add(
                Json.object()
                    .put("host", host)
                    .put("state", failure.state().word())
                    .put("detail", failure.detail())
                    .build());
          }
        });
    return Json.object()
        .put("lines", new Json.Arr(page.lines()))
        .put("next", page.next())
        .put("asked", asked)
        .put("missing_total", missing.size())
        .put("missing", new Json.Arr(list))
        .build();
  }
}
