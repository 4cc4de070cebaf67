package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.MemoryAuditLog;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The JSON resources of {@code /api/v1}, specified in {@code openapi.yaml}. They are reachable over
 * HTTP and, in the same process, by {@link #call}.
 */
public final class ApiV1 {
  public static final String JOBS = "/api/v1/jobs";
  public static final String JOB = "/api/v1/jobs/{job}";
  public static final String HISTOGRAM = "/api/v1/jobs/{job}/histogram";
  public static final String TASKS = "/api/v1/jobs/{job}/tasks";
  public static final String PAST_TASKS = "/api/v1/jobs/{job}/past-tasks";
  public static final String TASK = "/api/v1/jobs/{job}/tasks/{node}";
  public static final String SUMS = "/api/v1/jobs/{job}/sums";
  public static final String EXPLAIN = "/api/v1/jobs/{job}/tasks/{node}/explain";
  public static final String EXTEND = "/api/v1/jobs/{job}/tasks/{node}/extend";
  public static final String KILL = "/api/v1/jobs/{job}/tasks/{node}/kill";
  public static final String FORGIVE = "/api/v1/jobs/{job}/forgive";
  public static final String PAUSE = "/api/v1/jobs/{job}/pause";
  public static final String HALT = "/api/v1/jobs/{job}/halt";
  public static final String PROMOTE = "/api/v1/jobs/{job}/promote";
  public static final String RESUME = "/api/v1/jobs/{job}/resume";
  public static final String CANCEL = "/api/v1/jobs/{job}/cancel";
  public static final String KILL_TASKS = "/api/v1/jobs/{job}/kill";
  public static final String RERUN = "/api/v1/jobs/{job}/rerun";
  public static final String STOP = "/api/v1/jobs/{job}/stop";
  public static final String SETS = "/api/v1/sets";
  public static final String SET = "/api/v1/sets/{set}";
  public static final String SET_ACTION = "/api/v1/sets/{set}/{action}";
  public static final String LIMITS = "/api/v1/limits";
  public static final String LIMIT_OF_LEVEL = "/api/v1/limits/{level}/{resource}";
  public static final String LIMIT_OF_NODE = "/api/v1/limits/{level}/{resource}/{node}";
  public static final String BRAKES = "/api/v1/brakes";
  public static final String RELEASE_BRAKE = "/api/v1/brakes/release";
  public static final String QUARANTINES = "/api/v1/quarantines";
  public static final String LIFT_QUARANTINE = "/api/v1/quarantines/lift";
  public static final String NOTIFICATIONS = "/api/v1/notifications";
  public static final String TEST_NOTIFIER = "/api/v1/notifications/{notifier}/test";
  public static final String PROBES = "/api/v1/probes";
  public static final String PUSH_PROBE = "/api/v1/probes/{probe}/{node}";
  public static final String WAITING = "/api/v1/jobs/{job}/waiting";
  public static final String FAILURES = "/api/v1/jobs/{job}/failures";
  public static final String LEVELS = "/api/v1/jobs/{job}/levels";
  public static final String TREE = "/api/v1/tree";
  public static final String NODE = "/api/v1/nodes/{level}/{node}";
  public static final String ETA = "/api/v1/jobs/{job}/eta";
  public static final String ACTIVITY = "/api/v1/activity";
  public static final String SNAPSHOT = "/api/v1/snapshot";
  public static final String VALIDATE = "/api/v1/jobs/{job}/validate";
  public static final String PLANS = "/api/v1/plans";
  public static final String APPLY = "/api/v1/plans/apply";
  public static final String HISTORY = "/api/v1/jobs/{job}/history";
  public static final String ROLLBACK = "/api/v1/jobs/{job}/rollback";
  public static final String NODES = "/api/v1/nodes";
  public static final String RUNNING = "/api/v1/running";
  public static final String QUEUES = "/api/v1/queues";
  public static final String GROUPS = "/api/v1/groups";
  public static final String GROUPS_OF_KIND = "/api/v1/groups/{kind}";
  public static final String WORKERS = "/api/v1/workers";
  public static final String DRAIN = "/api/v1/workers/{worker}/drain";
  public static final String CORDON = "/api/v1/workers/{worker}/cordon";
  public static final String UNCORDON = "/api/v1/workers/{worker}/uncordon";
  public static final String LOGS = "/api/v1/logs";
  public static final String SETTINGS = "/api/v1/settings";
  public static final String LEADERSHIP = "/api/v1/leadership";
  public static final String STEP_DOWN = "/api/v1/leadership/step-down";
  public static final String PROBLEMS = "/api/v1/problems";
  public static final String ME = "/api/v1/me";
  public static final String AUDIT = "/api/v1/audit";
  public static final String SUMMARY = "/api/v1/summary";

  /** Answered as a stream, or as a page when the client accepts only JSON. */
  public static final String EVENTS = "/api/v1/events";

  private final List<ApiRoute> routes = new ArrayList<>();

  /** Creates the resources without an audit log, for callers in this process. */
  public ApiV1(SchedulerApi api, ServerIdentity identity) {
    this(api, identity, new MemoryAuditLog(1));
  }

  /**
   * @param audit the log to read; the callers of the routes write it
   */
  public ApiV1(SchedulerApi api, ServerIdentity identity, AuditLog audit) {
    new SecurityResources(audit, identity.name()).addTo(routes);
    new JobResources(api).addTo(routes);
    OperationResources operations = new OperationResources(api);
    operations.addTo(routes);
    new SetResources(api, operations).addTo(routes);
    new LimitResources(api).addTo(routes);
    new BrakeResources(api).addTo(routes);
    new QuarantineResources(api).addTo(routes);
    new NotificationResources(api).addTo(routes);
    new JobVersionResources(api).addTo(routes);
    new PlanResources(api).addTo(routes);
    new TaskResources(api).addTo(routes);
    new NodeResources(api).addTo(routes);
    new QueryResources(api).addTo(routes);
    new QueueResources(api).addTo(routes);
    new WorkerResources(api, identity).addTo(routes);
    new LogResources(api).addTo(routes);
    new LeadershipResources(api).addTo(routes);
    new ServerResources(api, identity).addTo(routes);
    new EventResources(api).addTo(routes);
    new SummaryResources(api, identity).addTo(routes);
  }

  /**
   * Returns the routes for the caller's identity and the audit log, for servers other than
   * schedulers.
   */
  public static List<ApiRoute> ofSecurity(AuditLog audit) {
    List<ApiRoute> routes = new ArrayList<>();
    new SecurityResources(audit, "").addTo(routes);
    return List.copyOf(routes);
  }

  /**
   * Returns every operation of a scheduler with its role, for a server that authorises requests and
   * forwards them to schedulers. These routes cannot answer.
   */
  public static List<ApiRoute> operations() {
    SchedulerApi elsewhere =
        (SchedulerApi)
            Proxy.newProxyInstance(
                ApiV1.class.getClassLoader(),
                new Class<?>[] {SchedulerApi.class},
                (proxy, method, arguments) -> {
                  throw new IllegalStateException("a scheduler answers this");
                });
    return new ApiV1(elsewhere, ServerIdentity.UNNAMED).routes();
  }

  /** Returns every operation that answers with JSON. */
  public List<ApiRoute> routes() {
    return List.copyOf(routes);
  }

  /**
   * Answers a request without HTTP.
   *
   * @param template one of the constants
   */
  public CompletionStage<Json> call(String method, String template, ApiRequest request) {
    for (ApiRoute route : routes) {
      if (route.method().equals(method) && route.template().equals(template)) {
        try {
          return route.handler().answer(request);
        } catch (ApiException e) {
          return CompletableFuture.failedFuture(e);
        }
      }
    }
    throw new IllegalArgumentException("no operation " + method + " " + template);
  }
}
