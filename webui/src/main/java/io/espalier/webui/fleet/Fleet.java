package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.webui.fleet.action.FleetActions;
import io.espalier.webui.fleet.action.FleetLogs;
import io.espalier.webui.fleet.action.FleetTasks;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.Poller;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.fleet.poll.SchedulerReply;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import io.espalier.webui.fleet.poll.SummaryParser;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.Role;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Polls many schedulers until it is closed, and answers queries from their last answers.
 * Thread-safe.
 */
public final class Fleet implements SchedulerListListener, AutoCloseable {
  private static final int RUNNING_LISTED = 200;
  private static final long JOINED_MILLIS = 300;
  private static final int MOST_TEXTS = 1_000;
  private static final int LONGEST_TEXT = 64 << 10;

  private final FleetOptions options;
  private final InstantSource clock;
  private final SummaryParser summaries = new SummaryParser();
  private final FleetClient client;
  private final Poller poller;
  private final DuplicateNodeCheck nodes;
  private final FleetLogs logs;
  private final FleetTasks tasks;
  private final FleetActions actions;
  private final Map<String, Json> texts = new LinkedHashMap<>();
  private volatile Listed list = new Listed("", 0, List.of());
  private Joined joined;

  /**
   * The source of the scheduler list.
   *
   * @param source as the user wrote it
   * @param problems of its newest version; if there are any, its good entries are not used either
   */
  public record Listed(String source, long atMillis, List<Problem> problems) {}

  /** All results computed from one view. */
  record Joined(
      FleetView view,
      Map<String, AggregatedJob> jobs,
      Duplicates.Report running,
      Duplicates.Report nodes,
      List<FleetProblems.Trouble> troubles,
      List<HinderedJob> hindered) {}

  public Fleet(FleetOptions options, InstantSource clock) {
    this.options = options;
    this.clock = clock;
    this.client = new FleetClient(options);
    this.poller = new Poller(options, this::ask, clock);
    this.nodes = new DuplicateNodeCheck(options, client, poller::view, clock);
    this.logs = new FleetLogs(options, client);
    this.tasks = new FleetTasks(options, client);
    this.actions = new FleetActions(options, client, clock, poller::askSoon);
    this.joined = join(poller.view());
  }

  @Override
  public void follow(String source, List<SchedulerAddress> schedulers) {
    list = new Listed(source, clock.millis(), List.of());
    poller.follow(schedulers);
  }

  @Override
  public void complain(List<Problem> problems) {
    list = new Listed(list.source(), list.atMillis(), List.copyOf(problems));
  }

  public Listed list() {
    return list;
  }

  public FleetOptions options() {
    return options;
  }

  /** Returns the current view. */
  public FleetView view() {
    return poller.view();
  }

  FleetTasks tasks() {
    return tasks;
  }

  FleetLogs logs() {
    return logs;
  }

  FleetActions actions() {
    return actions;
  }

  /** Returns the results of a view that is at most a moment old. */
  @SuppressWarnings("ReferenceEquality") // Each change creates a new view.
  synchronized Joined joined() {
    FleetView newest = poller.view();
    boolean old =
        newest != joined.view()
            && (clock.millis() - joined.view().atMillis() >= JOINED_MILLIS
                || joined.view().hosts().size() != newest.hosts().size());
    if (old || nodes.report().atMillis() != joined.nodes().atMillis()) {
      joined = join(newest);
    }
    return joined;
  }

  private Joined join(FleetView view) {
    Map<String, AggregatedJob> jobs = AggregatedJob.join(view);
    Duplicates.Report running = Duplicates.running(view);
    Duplicates.Report same = nodes.report();
    return new Joined(
        view,
        jobs,
        running,
        same,
        FleetProblems.of(view, jobs, same, running),
        HinderedJob.of(jobs));
  }

  /** Returns the settings of a job that are in force on one scheduler; cached by their hash. */
  CompletableFuture<Json> settings(SchedulerAddress of, String job, String hash, Duration within) {
    String key = hash + " " + job;
    synchronized (texts) {
      Json known = texts.get(key);
      if (known != null) {
        return CompletableFuture.completedFuture(known);
      }
    }
    String path =
        "/api/v1/jobs/" + URLEncoder.encode(job, StandardCharsets.UTF_8).replace("+", "%20");
    return client
        // Every viewer may read the answer, so it is requested with the role of a viewer.
        .ask(
            of,
            "GET",
            path,
            null,
            Map.of(Principal.ROLE_AT_MOST, Role.VIEWER.label()),
            within,
            SchedulerReply::json)
        .thenApply(
            json -> {
              if (!(json instanceof Json.Obj detail)
                  || !(detail.get("effective") instanceof Json.Obj effective)
                  || !(detail.get("name") instanceof Json.Str)) {
                throw new SchedulerUnreachableException(
                    FleetSchedulerState.ERROR, true, "this is no job");
              }
              Json.Obj settings =
                  new Json.Obj(
                      effective
                          .without("version_id")
                          .without("create_time")
                          .without("modify_time")
                          .members());
              if (!hash.isEmpty() && JsonWriter.compact(settings).length() <= LONGEST_TEXT) {
                synchronized (texts) {
                  texts.put(key, settings);
                  if (texts.size() > MOST_TEXTS) {
                    texts.remove(texts.keySet().iterator().next());
                  }
                }
              }
              return settings;
            });
  }

  private CompletableFuture<SchedulerSummary> ask(SchedulerAddress address) {
    return client.ask(
        address,
        "GET",
        "/api/v1/summary?running=" + RUNNING_LISTED,
        null,
        Map.of(),
        options.receive(),
        reply -> {
          if (reply.status() == 404) {
            throw new SchedulerUnreachableException(
                FleetSchedulerState.ERROR,
                true,
                "it has no /api/v1/summary: is it a scheduler of this version?");
          }
          try {
            return summaries.read(reply.json());
          } catch (IllegalArgumentException e) {
            throw new SchedulerUnreachableException(
                FleetSchedulerState.ERROR,
                true,
                "this is no scheduler's answer: " + e.getMessage());
          }
        });
  }

  /** Stops polling, within a few seconds. */
  @Override
  public void close() {
    nodes.close();
    poller.close();
    client.close();
  }
}
