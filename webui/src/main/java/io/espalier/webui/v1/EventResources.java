package io.espalier.webui.v1;

import io.espalier.core.api.EventFeed;
import io.espalier.core.api.PastTasks;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventFilter;
import io.espalier.core.event.EventKind;
import io.espalier.core.event.EventSearch;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.webui.v1.json.ApiJson;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Resources for events in pages, with the filter shared with the stream, and for what they say of
 * tasks at another time.
 */
public final class EventResources {
  private static final int MAX_PAGE = 1000;

  /** How far the clock of a client may be ahead. */
  private static final long MAX_AHEAD_MILLIS = 60_000;

  private static final InstantSource CLOCK = InstantSource.system();

  private final SchedulerApi api;
  private final Semaphore rebuilding = new Semaphore(1);

  EventResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.EVENTS, this::events));
    routes.add(ApiRoute.get(ApiV1.PAST_TASKS, this::pastTasks));
  }

  private CompletionStage<Json> events(ApiRequest request) {
    request.allowing("after", "before", "limit", "job", "set", "node", "kind", "since_ms");
    int limit = (int) request.integer("limit", 100, 1, MAX_PAGE);
    EventFeed feed = api.events();
    EventFilter filter = filter(request, api);
    long newest = feed.newest();
    long after = request.integer("after", -1, 0, Long.MAX_VALUE);
    long before = request.integer("before", -1, 1, Long.MAX_VALUE);
    if (after >= 0 && before >= 0) {
      throw ApiException.badRequest("a page is \"after\" an event or \"before\" one, not both");
    }
    if (!filter.isNarrow() && before < 0) {
      long from = after >= 0 ? after : Math.max(0, newest - limit);
      long oldest = feed.oldest();
      return feed.past(from, limit)
          .thenApply(
              found ->
                  page(
                          found,
                          found.isEmpty() ? oldest : Math.min(oldest, found.get(0).sequence()),
                          newest)
                      .build());
    }
    return feed.ask(
        reader -> {
          EventSearch search = new EventSearch(reader, filter);
          EventSearch.Found found;
          if (after >= 0 || (filter.sinceMillis() > 0 && before < 0)) {
            long since = filter.sinceMillis() > 0 ? search.before(filter.sinceMillis(), newest) : 0;
            found = search.after(Math.max(after, since), limit);
          } else {
            found = search.upTo(before < 0 ? newest : Math.min(before - 1, newest), limit);
          }
          return page(found.events(), search.oldest(), newest)
              .put("searched_after", found.from())
              .put("searched_to", found.to())
              .build();
        });
  }

  private CompletionStage<Json> pastTasks(ApiRequest request) {
    request.allowing("at_ms", "from_ms", "node", "status", "after", "limit");
    String job = request.part("job");
    List<String> statuses = request.choices("status", TaskResources.STATUSES);
    String after = request.text("after");
    int limit = (int) request.integer("limit", 100, 1, MAX_PAGE);
    long at = request.integer("at_ms", CLOCK.millis(), 0, Long.MAX_VALUE);
    notInTheFuture("at_ms", at);
    long from = request.integer("from_ms", 0, 0, Long.MAX_VALUE);
    if (from > at) {
      throw ApiException.badRequest("\"from_ms\" is later than \"at_ms\"");
    }
    // Many at a time would need the memory of many jobs.
    if (!rebuilding.tryAcquire()) {
      throw new ApiException(503, "tasks of another time are being rebuilt already: try again");
    }
    PastTasks.Question question =
        new PastTasks.Question(job, new HashSet<>(request.all("node")), at, from);
    long newest = api.events().newest();
    return CompletableFuture.completedFuture(question)
        .thenCompose(asked -> api.events().ask(events -> PastTasks.of(asked, events, newest)))
        .whenComplete((past, failure) -> rebuilding.release())
        .thenApply(
            past -> {
              refuseUnknown(job, past, at);
              return past(job, at, past, row -> fits(row, statuses, after), limit);
            });
  }

  private static boolean fits(StatusRow row, List<String> statuses, String after) {
    return row.node().compareTo(after) > 0
        && ListRequest.fits(statuses, row.status().label().word());
  }

  private void refuseUnknown(String job, PastTasks past, long atMillis) {
    if (past.isGone()) {
      throw new ApiException(
          410,
          "events of "
              + Instant.ofEpochMilli(atMillis)
              + " are gone: the oldest that is kept is of "
              + Instant.ofEpochMilli(past.sinceMillis()));
    }
    Config config = api.view().config();
    if (past.rows().isEmpty() && (config == null || config.job(job) == null)) {
      throw ApiException.notFound(
          "there is no job \"" + job + "\", and no event up to then is about one");
    }
  }

  private static Json past(
      String job, long atMillis, PastTasks past, Predicate<StatusRow> wanted, int limit) {
    Map<String, Long> counts = new TreeMap<>();
    past.rows().forEach(row -> counts.merge(row.status().label().word(), 1L, Long::sum));
    Json.Builder byStatus = Json.object();
    counts.forEach(byStatus::put);
    List<StatusRow> shown = past.rows().stream().filter(wanted).limit(limit + 1L).toList();
    boolean isLast = shown.size() <= limit;
    List<Json> tasks = new ArrayList<>();
    shown.stream().limit(limit).forEach(row -> tasks.add(task(row, atMillis)));
    return Json.object()
        .put("job", job)
        .put("at_ms", atMillis)
        .put("sequence", past.sequence())
        .put("since_ms", past.sinceMillis())
        .put("complete", past.complete())
        .put("statuses", byStatus.build())
        .put("tasks", new Json.Arr(tasks))
        .put("next", isLast ? "" : shown.get(limit - 1).node())
        .build();
  }

  private static Json task(StatusRow row, long atMillis) {
    TaskStatus status = row.status();
    boolean isRunning = status.main() == TaskStatus.Main.RUNNING;
    Json.Builder task =
        Json.object()
            .put("node", row.node())
            .put("status", status.label().word())
            .put("bits", status.bits())
            .put("attempts", status.attempts())
            .put("since_ms", status.sinceMillis())
            .putIfPresent("data", status.data())
            .putIfPresent("checkpoint", status.checkpoint());
    if (status.isWaiting(atMillis)) {
      task.put("until_ms", status.readyAtMillis());
    }
    if (status.step() != null) {
      task.put("step", status.step().label());
    }
    if (status.failure() != null) {
      task.put("failure", status.failure().message());
    }
    if (isRunning) {
      task.put("invocation", row.invocation().token()).put("worker", row.worker().shard());
    }
    return task.build();
  }

  private static Json.Builder page(List<Event> found, long oldest, long newest) {
    List<Json> events = new ArrayList<>();
    found.forEach(event -> events.add(ApiJson.event(event)));
    return Json.object()
        .put("oldest", oldest)
        .put("newest", newest)
        .put("events", new Json.Arr(events));
  }

  /** Returns the filter for the wanted events: jobs, sets, nodes, kinds, time. */
  public static EventFilter filter(ApiRequest request, SchedulerApi api) {
    List<String> kinds = request.words("kind");
    for (String kind : kinds) {
      if (EventKind.of(kind) == null) {
        throw ApiException.badRequest("parameter \"kind\": " + EventKind.unknown(kind));
      }
    }
    long since = request.integer("since_ms", 0, 0, Long.MAX_VALUE);
    notInTheFuture("since_ms", since);
    Set<String> sets = Set.copyOf(request.words("set"));
    return new EventFilter(
        jobs(Set.copyOf(request.all("job")), sets, api),
        sets,
        new HashSet<>(request.all("node")),
        new HashSet<>(kinds),
        since);
  }

  /** Refuses a time that is yet to come. */
  static void notInTheFuture(String name, long millis) {
    if (millis > CLOCK.millis() + MAX_AHEAD_MILLIS) {
      throw ApiException.badRequest(
          "parameter \"" + name + "\" is in the future: " + Instant.ofEpochMilli(millis));
    }
  }

  /** A stream asks for each event again, because jobs may join a set while it is open. */
  private static @Nullable Predicate<String> jobs(
      Set<String> jobs, Set<String> sets, SchedulerApi api) {
    if (jobs.isEmpty() && sets.isEmpty()) {
      return null;
    }
    sets.forEach(set -> SetResources.members(set, JobResources.config(api.view())));
    return name -> {
      Config config = sets.isEmpty() ? null : api.view().config();
      Job job = config == null ? null : config.job(name);
      return jobs.contains(name) || (job != null && sets.contains(job.set()));
    };
  }
}
