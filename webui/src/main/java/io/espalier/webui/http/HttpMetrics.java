package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.WatchdogFindings;
import io.espalier.core.config.Config;
import io.espalier.core.outcome.JobState;
import io.espalier.core.problem.Problem;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.status.store.Brake;
import io.espalier.core.topology.Topology;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Publishes the metrics of the HTTP server and of the published views. */
public final class HttpMetrics implements Handler<RoutingContext> {
  /**
   * The key under which handlers store their operation, so that names of jobs do not become labels.
   */
  private static final String ROUTE = "espalier.route";

  private static final String UNTIMED = "espalier.untimed";

  /**
   * The maximum number of jobs with their own labels: a scrape must not grow with the
   * configuration.
   */
  static final int MAX_JOBS = 1_000;

  /** The label for the sum of all jobs without a label of their own. */
  static final String OTHER = "other";

  private static final Set<HttpMethod> METHODS =
      Set.of(
          HttpMethod.GET,
          HttpMethod.HEAD,
          HttpMethod.POST,
          HttpMethod.PUT,
          HttpMethod.DELETE,
          HttpMethod.OPTIONS);

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(5),
    Duration.ofMillis(20),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10)
  };

  private final PrometheusMeterRegistry registry;
  private final SchedulerApi api;
  private final MultiGauge tasks;
  private final ResourceMeters resources;
  private final StartMeters starts;
  private final QueueMeters queues;
  private final NotifierMeters notifiers;
  private final ProbeMeters probes;
  private final GroupMeters groups;
  private final CounterMeters counters;

  public HttpMetrics(PrometheusMeterRegistry registry, SchedulerApi api, InstantSource clock) {
    this.registry = registry;
    this.api = api;
    this.resources = new ResourceMeters(registry, api);
    this.starts = new StartMeters(registry, api);
    this.queues = new QueueMeters(registry, api);
    this.notifiers = new NotifierMeters(registry, api, clock);
    this.probes = new ProbeMeters(registry, api, clock);
    this.groups = new GroupMeters(registry, api);
    this.counters = new CounterMeters(registry, api);
    this.tasks =
        MultiGauge.builder("espalier.job.tasks")
            .description("tasks by job and state")
            .register(registry);
    Gauge.builder(
            "espalier.view.age.seconds",
            api,
            a -> (clock.millis() - a.view().publishedAtMillis()) / 1000.0)
        .description("seconds since the scheduler published its view")
        .register(registry);
    Gauge.builder("espalier.tasks.running", api, a -> a.view().running().size())
        .description("live invocations")
        .register(registry);
    finding("overdue", WatchdogFindings::overdue);
    finding("starting", WatchdogFindings::starting);
    finding("kill_unanswered", WatchdogFindings::unanswered);
    finding("slots_leaked", WatchdogFindings::leaked);
    FunctionCounter.builder("espalier.supervisor.passes", api, a -> a.view().findings().passes())
        .description("complete passes of the supervisor")
        .register(registry);
    FunctionCounter.builder("espalier.supervisor.repairs", api, a -> a.view().findings().repairs())
        .description("kills repeated and lost ends made up for by the supervisor")
        .register(registry);
    Gauge.builder("espalier.jobs", api, HttpMetrics::jobs)
        .description("configured jobs")
        .register(registry);
    Gauge.builder("espalier.jobs.paused", api, a -> a.view().paused().size())
        .description("jobs that an operator keeps from starting tasks")
        .register(registry);
    for (JobState state : JobState.values()) {
      Gauge.builder("espalier.jobs.state", api, a -> inState(a.view(), state))
          .description("jobs by their state")
          .tag("state", state.word())
          .register(registry);
    }
    for (Rollout.Phase phase : Rollout.Phase.values()) {
      Gauge.builder("espalier.rollouts", api, a -> inPhase(a.view(), phase))
          .description("roll-outs of jobs by what they wait for")
          .tag("phase", phase.word())
          .register(registry);
    }
    for (Brake.Target target : Brake.Target.values()) {
      Gauge.builder("espalier.brakes", api, a -> brakesOn(a.view(), target))
          .description("brakes by what they slow down or stop")
          .tag("target", target.word())
          .register(registry);
    }
    for (boolean isOpen : new boolean[] {true, false}) {
      Gauge.builder("espalier.windows", api, a -> windows(a.view(), isOpen))
          .description("windows of the settings, queues, jobs and nodes by whether they are open")
          .tag("state", isOpen ? "open" : "closed")
          .register(registry);
    }
    Gauge.builder("espalier.nodes", api, HttpMetrics::nodes)
        .description("nodes in force")
        .register(registry);
    Gauge.builder("espalier.nodes.age.seconds", api, a -> nodesAge(a.view(), clock))
        .description("seconds since the nodes in force were fetched; 0 without any")
        .register(registry);
    Gauge.builder("espalier.errors", api, a -> a.view().errors().size())
        .description("current errors of the scheduler, as /api/v1/problems lists them")
        .register(registry);
    Gauge.builder("espalier.config.in.force", api, a -> a.view().config() == null ? 0 : 1)
        .description("1 when a configuration is in force")
        .register(registry);
    Gauge.builder(
            "espalier.config.errors",
            api,
            a -> a.view().configProblems().stream().filter(Problem::isError).count())
        .description("errors in the newest configuration")
        .register(registry);
  }

  private static int jobs(SchedulerApi api) {
    Config config = api.view().config();
    return config == null ? 0 : config.jobs().size();
  }

  private static long inState(SchedulerView view, JobState state) {
    return view.jobStates().values().stream().filter(job -> job.state() == state).count();
  }

  private static long inPhase(SchedulerView view, Rollout.Phase phase) {
    return view.rollouts().values().stream().filter(each -> each.phase() == phase).count();
  }

  private static long brakesOn(SchedulerView view, Brake.Target target) {
    return view.brakes().stream().filter(each -> each.brake().key().target() == target).count();
  }

  static long windows(SchedulerView view, boolean isOpen) {
    return view.windows().stream().filter(each -> each.open() == isOpen).count();
  }

  private static int nodes(SchedulerApi api) {
    Topology topology = api.view().topology();
    return topology == null ? 0 : topology.size();
  }

  private static double nodesAge(SchedulerView view, InstantSource clock) {
    return view.topology() == null ? 0 : (clock.millis() - view.nodesAtMillis()) / 1000.0;
  }

  private void finding(String kind, ToDoubleFunction<WatchdogFindings> count) {
    Gauge.builder(
            "espalier.supervisor.findings", api, a -> count.applyAsDouble(a.view().findings()))
        .description("tasks that the supervisor finds in a wrong state")
        .tag("kind", kind)
        .register(registry);
  }

  /** Excludes a request from the timings, because it has no natural end. */
  public static void untimed(RoutingContext ctx) {
    ctx.put(UNTIMED, true);
  }

  /** Sets the operation of a request. */
  public static void operation(RoutingContext ctx, String template) {
    ctx.put(ROUTE, template);
  }

  @Override
  public void handle(RoutingContext ctx) {
    long begin = System.nanoTime();
    ctx.addEndHandler(
        end -> {
          if (ctx.get(UNTIMED, false)) {
            return;
          }
          HttpMethod method = ctx.request().method();
          Timer.builder("espalier.http.requests")
              .description("requests answered")
              .tag("method", METHODS.contains(method) ? method.name() : "other")
              .tag("route", ctx.get(ROUTE, "unmatched"))
              .tag("status", Integer.toString(ctx.response().getStatusCode()))
              .serviceLevelObjectives(BUCKETS)
              .register(registry)
              .record(Duration.ofNanos(System.nanoTime() - begin));
        });
    ctx.next();
  }

  /** Returns the metrics as text in the format of Prometheus. */
  public synchronized String scrape() {
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    for (JobProgress job : shown(api.view().progress().values())) {
      row(rows, job, "done", job.done());
      row(rows, job, "failed", job.failed());
      row(rows, job, "cancelled", job.cancelled());
      row(rows, job, "running", job.running());
      row(rows, job, "waiting", job.waiting());
      row(rows, job, "ready", job.ready());
      row(rows, job, "blocked", job.blocked());
      row(rows, job, "avoided", job.avoided());
      row(rows, job, "disabled", job.disabled());
    }
    tasks.register(rows, true);
    resources.refresh();
    starts.refresh();
    queues.refresh();
    notifiers.refresh();
    probes.refresh();
    groups.refresh();
    counters.refresh();
    return registry.scrape();
  }

  /** Returns the largest jobs separately, and all others as one. */
  static Collection<JobProgress> shown(Collection<JobProgress> jobs) {
    if (jobs.size() <= MAX_JOBS) {
      return jobs;
    }
    List<JobProgress> sorted = new ArrayList<>(jobs);
    sorted.sort(
        Comparator.comparingLong(JobProgress::total).reversed().thenComparing(JobProgress::job));
    List<JobProgress> shown = new ArrayList<>();
    JobProgress rest = JobProgress.none(OTHER);
    for (JobProgress job : sorted) {
      // A job with this name is counted with the others, so that it does not appear twice.
      if (shown.size() < MAX_JOBS && !job.job().equals(OTHER)) {
        shown.add(job);
      } else {
        rest = rest.plus(job);
      }
    }
    shown.add(rest);
    return shown;
  }

  private static void row(List<MultiGauge.Row<?>> rows, JobProgress job, String state, long count) {
    rows.add(MultiGauge.Row.of(Tags.of("espalier_job", job.job(), "state", state), count));
  }
}
