package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.action.FleetLogs;
import io.espalier.webui.fleet.action.LogMerge;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.LogResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Resources for the state of many schedulers. Everything except logs and settings is in memory. */
public final class FleetResources {
  public static final String OVERVIEW = "/api/v1/fleet/overview";
  public static final String SCHEDULERS = "/api/v1/fleet/schedulers";
  public static final String JOBS = "/api/v1/fleet/jobs";
  public static final String JOB = "/api/v1/fleet/jobs/{job}";
  public static final String FAILURES = "/api/v1/fleet/jobs/{job}/failures";
  public static final String WAITING = "/api/v1/fleet/jobs/{job}/waiting";
  public static final String TASK = "/api/v1/fleet/jobs/{job}/tasks/{node}";
  public static final String PROBLEMS = "/api/v1/fleet/problems";
  public static final String LOGS = "/api/v1/fleet/logs";

  private static final int PAGE = 100;
  private static final int MOST_PAGE = 1_000;
  private static final int TOP_TROUBLES = 20;
  private static final int MOST_VARIANTS = 10;
  private static final int MOST_LOG_PAGE = 500;
  private static final long LAST_MILLIS = Long.MAX_VALUE / 1000;
  private static final Duration LOGS_WITHIN = Duration.ofSeconds(5);
  private static final Duration TASK_WITHIN = Duration.ofSeconds(5);
  private static final Duration SETTINGS_WITHIN = Duration.ofSeconds(2);
  private static final List<String> STATES =
      Stream.of(FleetSchedulerState.values()).map(FleetSchedulerState::word).toList();

  private final Fleet fleet;

  public FleetResources(Fleet fleet) {
    this.fleet = fleet;
  }

  /** Returns every operation. */
  public List<ApiRoute> routes() {
    List<ApiRoute> routes = new ArrayList<>();
    get(routes, OVERVIEW, this::overview);
    get(routes, SCHEDULERS, this::schedulers);
    get(routes, JOBS, this::jobs);
    get(routes, JOB, this::job);
    routes.add(new ApiRoute("GET", TASK, false, this::task));
    routes.add(new ApiRoute("GET", FAILURES, false, this::failures));
    routes.add(new ApiRoute("GET", WAITING, false, this::waiting));
    get(routes, PROBLEMS, this::problems);
    routes.add(new ApiRoute("GET", LOGS, false, this::logs));
    new ActionResources(fleet).addTo(routes);
    return routes;
  }

  private static void get(
      List<ApiRoute> routes, String template, Function<ApiRequest, CompletionStage<Json>> answer) {
    routes.add(new ApiRoute("GET", template, false, answer::apply));
  }

  private CompletionStage<Json> overview(ApiRequest request) {
    request.allowing("match", "sort", "after", "limit");
    Fleet.Joined joined = fleet.joined();
    long running = 0;
    for (FleetSchedulerView host : joined.view().known()) {
      SchedulerSummary summary = host.summary();
      running += summary == null ? 0 : summary.runningTotal();
    }
    return done(
        jobsInto(
                request,
                joined,
                Json.object()
                    .put("at_ms", joined.view().atMillis())
                    .put("list", FleetJson.list(fleet.list()))
                    .put("schedulers", FleetJson.schedulers(joined.view()))
                    .put("progress", FleetJson.sum(joined.jobs()).json())
                    .put("running_total", running)
                    .put(
                        "jobs_stuck",
                        joined.jobs().values().stream()
                            .filter(job -> job.inState("stuck") > 0)
                            .count())
                    .put("jobs_hindered", joined.hindered().size())
                    .put("hindered", FleetJson.hindered(joined.hindered()))
                    .put("problems_total", joined.troubles().size())
                    .put(
                        "errors_total",
                        joined.troubles().stream().filter(FleetProblems.Trouble::error).count())
                    .put(
                        "problems",
                        FleetJson.troubles(joined.troubles().stream().limit(TOP_TROUBLES).toList()))
                    .put("duplicate_nodes", joined.nodes().json("level"))
                    .put("duplicate_tasks", joined.running().json("job")))
            .build());
  }

  private CompletionStage<Json> jobs(ApiRequest request) {
    request.allowing("match", "sort", "after", "limit");
    Fleet.Joined joined = fleet.joined();
    return done(
        jobsInto(request, joined, Json.object().put("at_ms", joined.view().atMillis())).build());
  }

  private static Json.Builder jobsInto(
      ApiRequest request, Fleet.Joined joined, Json.Builder answer) {
    boolean byName = request.choice("sort", "trouble", List.of("trouble", "name")).equals("name");
    Predicate<String> matches = matching(request);
    List<AggregatedJob> chosen =
        joined.jobs().values().stream().filter(job -> matches.test(job.name())).toList();
    Page<AggregatedJob> page =
        Page.of(chosen, job -> (byName ? "" : rank(job)) + job.name(), request);
    List<Json> list = new ArrayList<>();
    page.items().forEach(job -> list.add(FleetJson.job(job).build()));
    return answer
        .put("jobs_total", joined.jobs().size())
        .put("jobs_matching", chosen.size())
        .put("jobs", new Json.Arr(list))
        .put("next", page.next());
  }

  /** Returns the sort key: jobs that require action come first. */
  private static String rank(AggregatedJob job) {
    if (job.count("valid", "false") > 0) {
      return "0:";
    }
    if (job.counts().failed() > 0 || job.hinderedOn() + job.inState("halted") > 0) {
      return "1:";
    }
    return job.differing() > 0 || job.count("paused", "true") > 0 ? "2:" : "3:";
  }

  private CompletionStage<Json> schedulers(ApiRequest request) {
    request.allowing("state", "match", "after", "limit");
    String state = request.choice("state", "", STATES);
    Predicate<String> matches = matching(request);
    FleetView view = fleet.joined().view();
    Map<String, String> same = view.sameProcess();
    List<FleetSchedulerView> chosen =
        view.hosts().stream()
            .filter(host -> state.isEmpty() || host.state().word().equals(state))
            .filter(host -> matches.test(host.address().name()) || matches.test(host.id()))
            .toList();
    Page<FleetSchedulerView> page = Page.of(chosen, FleetSchedulerView::id, request);
    List<Json> list = new ArrayList<>();
    page.items().forEach(host -> list.add(FleetJson.scheduler(host, same.get(host.id()))));
    return done(
        Json.object()
            .put("at_ms", view.atMillis())
            .put("list", FleetJson.list(fleet.list()))
            .put("summary", FleetJson.schedulers(view))
            .put("matching", chosen.size())
            .put("schedulers", new Json.Arr(list))
            .put("next", page.next())
            .build());
  }

  private CompletionStage<Json> problems(ApiRequest request) {
    request.allowing("limit");
    int limit = (int) request.integer("limit", MOST_PAGE, 1, MOST_PAGE);
    Fleet.Joined joined = fleet.joined();
    return done(
        Json.object()
            .put("at_ms", joined.view().atMillis())
            .put("list", FleetJson.list(fleet.list()))
            .put("total", joined.troubles().size())
            .put("problems", FleetJson.troubles(joined.troubles().stream().limit(limit).toList()))
            .put("duplicate_nodes", joined.nodes().json("level"))
            .put("duplicate_tasks", joined.running().json("job"))
            .build());
  }

  private CompletionStage<Json> job(ApiRequest request) {
    request.allowing("only", "match", "kind", "after", "limit");
    String kind = request.text("kind");
    String only =
        request.choice(
            "only",
            "",
            List.of("differing", "failed", "stuck", "hindered", "paused", "running", "invalid"));
    Predicate<String> matches = matching(request);
    Fleet.Joined joined = fleet.joined();
    AggregatedJob whole = known(joined, request.part("job"));
    AggregatedJob job = kind.isEmpty() ? whole : whole.ofKind(kind);
    if (job.members().isEmpty()) {
      throw ApiException.notFound("no scheduler has the job with these settings");
    }
    String majority = job.configs().get(0).value();
    List<AggregatedJob.Member> chosen =
        job.members().stream()
            .filter(member -> matches.test(member.host().address().name()))
            .filter(member -> isMeant(member.job(), only, majority))
            .toList();
    Page<AggregatedJob.Member> page = Page.of(chosen, member -> member.host().id(), request);
    List<Json> members = new ArrayList<>();
    page.items().forEach(member -> members.add(FleetJson.member(member, majority)));
    Json.Builder answer =
        FleetJson.job(job)
            .put("at_ms", joined.view().atMillis())
            .put("fleet", FleetJson.schedulers(joined.view()))
            .put("attributes", FleetJson.attributes(job))
            .put("matching", chosen.size())
            .put("hosts", new Json.Arr(members))
            .put("next", page.next());
    return variants(whole)
        .thenApply(variants -> answer.put("configs", new Json.Arr(variants)).build());
  }

  private static boolean isMeant(SchedulerSummary.Job job, String only, String majority) {
    return switch (only) {
      case "differing" -> !job.configHash().equals(majority);
      case "failed" -> job.counts().failed() > 0;
      case "stuck" -> job.isStuck();
      case "hindered" -> job.isHindered();
      case "paused" -> job.paused();
      case "running" -> job.counts().running() > 0;
      case "invalid" -> !job.valid();
      default -> true;
    };
  }

  /**
   * Queries one scheduler of each variant for its settings; leaves out those of schedulers that do
   * not answer.
   */
  private CompletableFuture<List<Json>> variants(AggregatedJob job) {
    List<ValueGroup> shares = job.configs().stream().limit(MOST_VARIANTS).toList();
    List<CompletableFuture<Optional<Json>>> texts = new ArrayList<>();
    shares.forEach(share -> texts.add(settings(job, share)));
    return CompletableFuture.allOf(texts.toArray(new CompletableFuture<?>[0]))
        .thenApply(
            all -> {
              List<Json> variants = new ArrayList<>();
              Json most = texts.get(0).join().orElse(null);
              for (int i = 0; i < shares.size(); i++) {
                Json settings = texts.get(i).join().orElse(null);
                variants.add(FleetJson.variant(job, shares.get(i), i == 0, most, settings));
              }
              return variants;
            });
  }

  private CompletableFuture<Optional<Json>> settings(AggregatedJob job, ValueGroup share) {
    for (AggregatedJob.Member member : job.members()) {
      if (member.job().configHash().equals(share.value())
          && member.host().state() == FleetSchedulerState.ANSWERED) {
        return fleet
            .settings(member.host().address(), job.name(), share.value(), SETTINGS_WITHIN)
            .handle((json, failure) -> Optional.ofNullable(json));
      }
    }
    return CompletableFuture.completedFuture(Optional.empty());
  }

  private CompletionStage<Json> task(ApiRequest request) {
    request.allowing();
    String job = request.part("job");
    List<FleetSchedulerView> hosts = hostsOf(fleet.view(), Set.of(), Set.of(job));
    return fleet.tasks().find(hosts, job, request.part("node"), TASK_WITHIN);
  }

  private CompletionStage<Json> failures(ApiRequest request) {
    String job = request.allowing("kind").part("job");
    return fleet.tasks().failures(hostsOf(request, job), job, TASK_WITHIN);
  }

  private CompletionStage<Json> waiting(ApiRequest request) {
    String job = request.allowing("kind").part("job");
    return fleet.tasks().waiting(hostsOf(request, job), job, TASK_WITHIN);
  }

  /** Returns the schedulers that may have the job, or have it with these settings. */
  private List<FleetSchedulerView> hostsOf(ApiRequest request, String job) {
    String kind = request.text("kind");
    return hostsOf(fleet.view(), Set.of(), Set.of(job)).stream()
        .filter(host -> kind.isEmpty() || isOfKind(host, job, kind))
        .toList();
  }

  /** Returns whether a scheduler has a job with settings of this hash. */
  static boolean isOfKind(FleetSchedulerView host, String job, String kind) {
    SchedulerSummary summary = host.summary();
    return summary != null
        && summary.jobs().stream()
            .anyMatch(known -> known.name().equals(job) && known.configHash().equals(kind));
  }

  /**
   * Returns the schedulers that may have one of the jobs, each once; or those with the given ids.
   */
  private static List<FleetSchedulerView> hostsOf(
      FleetView view, Set<String> ids, Set<String> jobs) {
    Map<String, String> same = view.sameProcess();
    return view.hosts().stream()
        .filter(host -> ids.isEmpty() ? !same.containsKey(host.id()) : ids.contains(host.id()))
        .filter(host -> mayHave(host, jobs))
        .toList();
  }

  private CompletionStage<Json> logs(ApiRequest request) {
    request.allowing(
        "stream",
        "job",
        "node",
        "invocation",
        "regex",
        "order",
        "limit",
        "since_ms",
        "until_ms",
        "after",
        "host");
    // Every scheduler would refuse what this refuses.
    var unused = LogResources.chosen(request);
    Map<String, List<String>> filters = new LinkedHashMap<>();
    for (String name : List.of("stream", "job", "node", "invocation", "regex")) {
      List<String> values = request.all(name);
      if (!values.isEmpty()) {
        filters.put(name, values);
      }
    }
    LogMerge.Cursor cursor;
    try {
      cursor = LogMerge.Cursor.parse(request.text("after"));
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(String.valueOf(e.getMessage()));
    }
    FleetLogs.Query query =
        new FleetLogs.Query(
            filters,
            request.choice("order", "desc", List.of("asc", "desc")).equals("asc"),
            (int) request.integer("limit", PAGE, 1, MOST_LOG_PAGE),
            request.integer("since_ms", 0, 0, LAST_MILLIS),
            request.integer("until_ms", 0, 0, LAST_MILLIS),
            cursor);
    Set<String> ids = new LinkedHashSet<>(request.all("host"));
    FleetView view = fleet.view();
    for (String id : ids) {
      if (view.host(id) == null) {
        throw ApiException.notFound("there is no scheduler \"" + id + "\" in the list");
      }
    }
    List<FleetSchedulerView> hosts = hostsOf(view, ids, Set.copyOf(request.all("job")));
    return fleet.logs().read(hosts, query, LOGS_WITHIN);
  }

  /**
   * Returns true when the scheduler may have one of the jobs. Deleted jobs have lines too, but a
   * scheduler that knows none of the jobs need not be queried.
   */
  private static boolean mayHave(FleetSchedulerView host, Set<String> jobs) {
    SchedulerSummary summary = host.summary();
    return jobs.isEmpty()
        || summary == null
        || summary.cut()
        || summary.jobs().stream().anyMatch(job -> jobs.contains(job.name()));
  }

  static AggregatedJob known(Fleet.Joined joined, String name) {
    AggregatedJob job = joined.jobs().get(name);
    if (job == null) {
      throw ApiException.notFound("no scheduler that has answered has a job \"" + name + "\"");
    }
    return job;
  }

  /**
   * Returns a filter for a part of a name, ignoring case. It is not a regular expression, whose
   * cost would be unbounded.
   */
  private static Predicate<String> matching(ApiRequest request) {
    String part = request.text("match").toLowerCase(Locale.ROOT);
    return name -> part.isEmpty() || name.toLowerCase(Locale.ROOT).contains(part);
  }

  private static CompletionStage<Json> done(Json json) {
    return CompletableFuture.completedFuture(json);
  }

  /**
   * A page of a list, continued by key.
   *
   * @param next key of its last item, or empty at the end
   */
  record Page<T>(List<T> items, String next) {
    static <T> Page<T> of(List<T> all, Function<T, String> key, ApiRequest request) {
      int limit = (int) request.integer("limit", PAGE, 1, MOST_PAGE);
      String after = request.text("after");
      List<T> rest =
          all.stream()
              .filter(item -> key.apply(item).compareTo(after) > 0)
              .sorted(Comparator.comparing(key))
              .toList();
      List<T> items = rest.subList(0, Math.min(limit, rest.size()));
      return new Page<>(
          items, items.size() < rest.size() ? key.apply(items.get(items.size() - 1)) : "");
    }
  }
}
