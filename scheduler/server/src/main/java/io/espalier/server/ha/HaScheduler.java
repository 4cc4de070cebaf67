package io.espalier.server.ha;

import io.espalier.core.api.LeadershipControl;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.LeadershipView;
import io.espalier.core.pace.Jitter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.SchedulerProcess;
import io.espalier.server.app.SignalHandling;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.GroupMark;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.webui.StandbyState;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.WebStartException;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.worker.thread.OwnerThread;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of several schedulers: a standby until it is elected, then the leader, and a standby again
 * when another one is elected. A failure while it leads ends only its leadership: tasks continue on
 * their workers, and the next leader takes them over.
 *
 * <pre>
 *   standby --elected--> taking over --ready--> leading
 *      ^                    | configuration,       | session lost, store fenced,
 *      |                    | store or port        | stepped down
 *      +---- after a pause -+ refused --------------+
 * </pre>
 */
public final class HaScheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HaScheduler.class);
  private static final long LOOK_MILLIS = 100;
  private static final int STANDBY_AUDIT = 100;
  private static final long FIRST_PAUSE_MILLIS = 2_000;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

  /** The delay that lets the answer to the request go out first. */
  private static final long STEP_DOWN_AFTER_MILLIS = 300;

  private final ProcessOptions options;
  private final HaOptions ha;
  private final Consumer<String> say;
  private final Group group;
  private final Candidate self;
  private final @Nullable HostPort http;
  private final WebSecurity security;
  private final CountDownLatch stopAsked = new CountDownLatch(1);
  private final StartWaits waits = new StartWaits();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private @Nullable WebServer standby;
  private volatile String takeOverProblem = "";

  private HaScheduler(ProcessOptions options, HaOptions ha, Group group, Consumer<String> say) {
    this.options = options;
    this.ha = ha;
    this.say = say;
    this.group = group;
    // Requests refused here change nothing: the data directory belongs to the leader.
    this.security = options.http().access().open(new MemoryAuditLog(STANDBY_AUDIT));
    standby = options.http().address().map(this::serve).orElse(null);
    this.http =
        standby == null
            ? null
            : new HostPort(options.http().address().orElseThrow().host(), standby.port());
    this.self =
        new Candidate(
            http == null
                ? ""
                : (options.http().access().tls().isPresent() ? Candidate.TLS : "")
                    + new HostPort(ha.hostFor(http.host()), http.port()),
            options
                .runner()
                .remote()
                .map(r -> new HostPort(ha.hostFor(r.thrift().host()), r.thrift().port()).toString())
                .orElse(""),
            ha.hostName(),
            ProcessHandle.current().pid(),
            System.currentTimeMillis());
  }

  /**
   * Runs until a signal ends it.
   *
   * @param say gets lines for the operator
   * @return the exit code
   * @throws CommandException when its options can never make it a leader
   */
  public static int run(ProcessOptions options, HaOptions ha, Consumer<String> say)
      throws InterruptedException {
    SchedulerProcess.check(options);
    try (Group group = ha.group(options, HaScheduler::candidates);
        HaScheduler scheduler = new HaScheduler(options, ha, group, say)) {
      OwnerThread.haltOnDeath(ExitCode.FAILED);
      SignalHandling.handle(number -> scheduler.stop());
      scheduler.begin();
      scheduler.takeTurns();
      return ExitCode.OK;
    } catch (WebStartException e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Fails at the start for problems that persist, because otherwise it would remain a standby
   * forever.
   */
  private void begin() throws IOException, InterruptedException {
    try {
      group.awaitConnected();
    } catch (IOException e) {
      throw new CommandException(ExitCode.UNREACHABLE, String.valueOf(e.getMessage()), e);
    }
    group.requireStore(ha.storeName(options));
    if (http != null) {
      say.accept(
          "listening on "
              + (options.http().access().tls().isPresent() ? "https" : "http")
              + "://"
              + http);
    }
    say.accept("standing by at " + group);
  }

  private void takeTurns() throws InterruptedException {
    long pause = 0;
    Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());
    while (!stopAsked.await(jitter.shorten(pause, Jitter.OF_RETRIES), TimeUnit.MILLISECONDS)) {
      serveStandby();
      boolean led = false;
      try (Candidacy election = group.join(self)) {
        led = awaitElection(election) && lead(election);
      } catch (IOException e) {
        takeOverProblem = String.valueOf(e.getMessage());
        LOG.warn("{}", takeOverProblem);
      }
      pause = led ? 0 : Math.min(LONGEST_PAUSE_MILLIS, Math.max(FIRST_PAUSE_MILLIS, 2 * pause));
    }
  }

  private boolean awaitElection(Candidacy election) throws InterruptedException {
    while (!election.awaitLeadership(LOOK_MILLIS)) {
      if (stopAsked.getCount() == 0 || election.isOver()) {
        return false;
      }
    }
    return stopAsked.getCount() > 0;
  }

  /**
   * Leads as long as possible.
   *
   * @return true when it led; false when it could not begin, or failed, and should let others try
   */
  private boolean lead(Candidacy election) throws InterruptedException {
    LOG.info("elected at {}; taking over", group);
    long since = System.nanoTime();
    Right right = new Right(election);
    try (SchedulerProcess process = takeOver(right)) {
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
      election.opened();
      LOG.info("leading, {} ms after the election", millis);
      say.accept("leading");
      process.problems().forEach(problem -> say.accept(problem.toString()));
      while (!process.awaitEnd(LOOK_MILLIS)) {
        if (election.isLost()) {
          LOG.warn("leadership is lost; the tasks go on, and the next leader takes them over");
          // This comes first: the latch would queue us again, and delay others while we close.
          election.close();
          break;
        }
        if (right.stepsDown() || stopAsked.getCount() == 0) {
          LOG.info("letting another lead");
          break;
        }
      }
      say.accept("leading no more");
      return true;
    } catch (StartWaits.GivenUp e) {
      LOG.info("{}", e.getMessage());
      return false;
    } catch (CommandException e) {
      takeOverProblem = String.valueOf(e.getMessage());
      LOG.error("cannot lead: {}", takeOverProblem);
      say.accept("cannot lead: " + takeOverProblem);
      return false;
    }
  }

  private SchedulerProcess takeOver(Leadership right) {
    try {
      group.requireStore(ha.storeName(options));
    } catch (IOException e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    SchedulerProcess process = SchedulerProcess.start(options, right, waits);
    takeOverProblem = "";
    return process;
  }

  private static void candidates(List<Candidate> now) {
    LOG.info("candidates, the leader first: {}", now);
  }

  // ---- standing by

  private WebServer serve(HostPort at) {
    return WebServer.standby(
        WebOptions.at(at.host(), at.port())
            .withAllowedHosts(
                options.http().access().names(ha.advertise().map(Set::of).orElse(Set.of())))
            .withSecurity(security),
        this::state);
  }

  private synchronized void serveStandby() {
    if (http == null || standby != null) {
      return;
    }
    try {
      standby = serve(http);
    } catch (WebStartException e) {
      LOG.warn("standing by without HTTP: {}", e.getMessage());
    }
  }

  private synchronized void leaveStandby() {
    if (standby != null) {
      standby.close();
      standby = null;
    }
  }

  private StandbyState state() {
    Optional<Candidate> leader = group.leader();
    String problem = group.problem().orElse(takeOverProblem);
    if (leader.isEmpty()) {
      return new StandbyState(group.ownerName(), Optional.empty(), "", problem);
    }
    if (leader.get().equals(self)) {
      return new StandbyState(
          group.ownerName(),
          Optional.empty(),
          "",
          problem.isEmpty() ? "this one is taking over" : problem);
    }
    return new StandbyState(group.ownerName(), uri(leader.get()), leader.get().toString(), problem);
  }

  private static Optional<URI> uri(Candidate leader) {
    try {
      return leader.http().isEmpty() ? Optional.empty() : Optional.of(URI.create(leader.url()));
    } catch (IllegalArgumentException e) {
      LOG.warn("the leader says that it is at {}", leader.http(), e);
      return Optional.empty();
    }
  }

  /** The right by which this scheduler leads. */
  private final class Right implements Leadership {
    private final Candidacy election;
    private volatile long stepDownNanos;

    Right(Candidacy election) {
      this.election = election;
    }

    boolean stepsDown() {
      long at = stepDownNanos;
      return at != 0 && System.nanoTime() - at > 0;
    }

    @Override
    public long remainingMillis() {
      return election.remainingMillis();
    }

    @Override
    public HostPort http(HostPort configured) {
      return http == null ? configured : http;
    }

    @Override
    public Set<String> names() {
      return ha.advertise().map(Set::of).orElse(Set.of());
    }

    @Override
    public void beforeListening() {
      leaveStandby();
    }

    @Override
    public Optional<String> problem() {
      return election.problem().or(group::problem);
    }

    @Override
    public Optional<String> group() {
      return Optional.of(group.ownerName());
    }

    @Override
    public Optional<StoreOwnership> ownership() {
      return election.ownership();
    }

    @Override
    public GroupMark mark() {
      return group.mark();
    }

    @Override
    public LeadershipControl control(long epoch) {
      return new Control(this, epoch);
    }
  }

  /** The control of the leadership for operators. */
  private final class Control implements LeadershipControl {
    private final Right right;
    private final long epoch;

    Control(Right right, long epoch) {
      this.right = right;
      this.epoch = epoch;
    }

    @Override
    public LeadershipView view() {
      return new LeadershipView(
          true,
          epoch,
          Math.max(0, right.remainingMillis()),
          group.candidates().stream().map(Candidate::http).toList(),
          right.problem().orElse(null));
    }

    @Override
    public void stepDown(String reason) {
      if (group.candidates().size() < 2) {
        throw new RefusedException(
            RefusedException.Reason.CONFLICT, "there is no other scheduler that could lead");
      }
      LOG.info("asked to let another lead: {}", reason);
      right.stepDownNanos =
          (System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STEP_DOWN_AFTER_MILLIS)) | 1;
    }
  }

  // ---- the end

  /** Handles a signal: waits until everything is closed. */
  private void stop() {
    LOG.info("stopping");
    stopAsked.countDown();
    waits.giveUp();
    try {
      boolean unused = stopped.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    leaveStandby();
    stopped.countDown();
  }
}
