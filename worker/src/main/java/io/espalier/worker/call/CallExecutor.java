package io.espalier.worker.call;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.call.CallCourse;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.process.JournalKey;
import io.espalier.worker.process.TaskLog;
import io.espalier.worker.process.TaskTimeLimits;
import io.espalier.worker.thread.OwnerThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls of tasks and follows each to its end. One thread owns all of them, and starts
 * with the first; the public methods only post messages to it. What runs is the service's: this
 * process may end, and another one may go on asking ({@link #adopt}).
 *
 * <p>Each call that was started or adopted is followed by exactly one end.
 */
public final class CallExecutor implements AutoCloseable {
  /** Why a call is let go whose service has reported its end. */
  public static final String REPORTED = "its service has reported its end";

  private static final Logger LOG = LoggerFactory.getLogger(CallExecutor.class);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(2);
  private static final long MS = 1_000_000L;

  /**
   * The questions to one service that may be unanswered at a time, and the starts: each uses a
   * connection with its buffers. They are counted apart, so that services which take no calls leave
   * those that run to be asked about.
   */
  private static final int MOST_OF_SERVICE = 500;

  /** The same of all services together: four of them may hang without an effect on others. */
  private static final int MOST_REQUESTS = 5 * MOST_OF_SERVICE;

  private final CallReports reports;
  private final SendLease lease = new SendLease();
  private final OwnerThread<Runnable> thread = new OwnerThread<>("calls");
  private final Map<JournalKey, InvocationLimits> known = new ConcurrentHashMap<>();

  /**
   * Calls that have not been sent. The thread that removes one decides: it is sent, or it is not.
   */
  private final Set<JournalKey> unsent = ConcurrentHashMap.newKeySet();

  private final Map<JournalKey, CallInFlight> running = new HashMap<>();
  private final Map<String, CallClient> clients = new HashMap<>();
  private final CallTimers timers = new CallTimers();
  private final RequestLanes<CallInFlight> questions;
  private final RequestLanes<Unsent> starts;
  private boolean closed;
  private volatile boolean confirmsStarts;

  /** A call that waits until fewer others are being sent. */
  private record Unsent(CallInFlight call, Json.Obj argument) {}

  /**
   * @param log takes the events of calls
   */
  public CallExecutor(TaskLog log) {
    this(log, MOST_OF_SERVICE, MOST_REQUESTS);
  }

  CallExecutor(TaskLog log, int mostOfService, int mostRequests) {
    reports = new CallReports(log);
    questions = new RequestLanes<>(mostOfService, mostRequests);
    starts = new RequestLanes<>(mostOfService, mostRequests);
  }

  /**
   * @param newListener receives exactly one end per call, and progress, on the thread of the calls;
   *     must not block
   */
  public void open(TaskListener newListener) {
    reports.open(newListener);
    // There may be no threads any more when there are calls.
    thread.start(new Owner(), true);
  }

  /**
   * Sends a call.
   *
   * @throws IllegalStateException before {@link #open}, and for an invocation that is known
   */
  public void start(LaunchSpec launch) {
    accept(launch, this::send, true);
  }

  /**
   * Asks about a call that somebody else has sent, or may have sent; never sends it. A call that is
   * known already is asked about anyway.
   */
  public void adopt(LaunchSpec launch) {
    if (!known.containsKey(JournalKey.of(launch))) {
      accept(launch, this::take, false);
    }
  }

  private void accept(LaunchSpec launch, Consumer<LaunchSpec> message, boolean sends) {
    JournalKey key = JournalKey.of(launch);
    boolean late;
    synchronized (this) {
      if (!reports.isOpen()) {
        throw new IllegalStateException("not open");
      }
      if (known.putIfAbsent(key, launch.limits()) != null) {
        throw new IllegalStateException("this invocation was started before: " + key);
      }
      if (sends) {
        unsent.add(key);
      }
      late = closed;
      if (!late) {
        // Before the message that closes: whatever is accepted has an end.
        thread.post(() -> message.accept(launch));
      }
    }
    if (late) {
      end(key, key.end(TaskResult.Kind.NOT_STARTED).withMessage("shutting down"));
    }
  }

  /** Requests that a call be cancelled; returns false when it is unknown, or has ended. */
  public boolean kill(String job, String node, Invocation invocation) {
    return tell(new JournalKey(job, node, invocation), call -> stop(call, StopReason.REQUESTED));
  }

  /** Moves the time limits of a call; returns false when it is unknown, has ended, or has none. */
  public boolean extend(String job, String node, Invocation invocation, long millis) {
    JournalKey key = new JournalKey(job, node, invocation);
    InvocationLimits limits = known.get(key);
    return limits != null
        && (limits.timeoutMillis() > 0 || limits.deadlineMillis() > 0)
        && tell(key, call -> call.limits.extend(millis));
  }

  /**
   * Ends a call here, without touching its service: as lost, or as not started if it was not sent
   * yet. Returns false when it is unknown, or has ended.
   *
   * @param why why nobody here asks about it any more
   */
  public boolean letGo(String job, String node, Invocation invocation, String why) {
    return tell(new JournalKey(job, node, invocation), call -> letGo(call, why));
  }

  /**
   * Takes a call back, if it has not begun to be sent: it never will be, and ends as not started.
   * This is decided when the call of this method returns.
   */
  public void recall(String job, String node, Invocation invocation) {
    JournalKey key = new JournalKey(job, node, invocation);
    if (unsent.remove(key)) {
      boolean unused = tell(key, call -> letGo(call, "it was recalled"));
    }
  }

  private boolean tell(JournalKey key, Consumer<CallInFlight> message) {
    if (!known.containsKey(key)) {
      return false;
    }
    thread.post(
        () -> {
          CallInFlight call = running.get(key);
          if (call != null) {
            message.accept(call);
            advance(call);
          }
        });
    return true;
  }

  /** Returns whether an invocation is a call without an end. */
  public boolean knows(String job, String node, Invocation invocation) {
    return known.containsKey(new JournalKey(job, node, invocation));
  }

  /** Returns the number of calls without an end. */
  public int count() {
    return known.size();
  }

  /**
   * From now on nothing is sent after the earlier of these instants, until they are moved.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  public void lease(long uptimeHundredths, long clockMillis) {
    lease.set(uptimeHundredths, clockMillis);
  }

  // ---- on the thread

  private static long now() {
    return System.nanoTime() / MS;
  }

  private final class Owner implements OwnerThread.Turn {
    @Override
    public long take() {
      return turn();
    }

    @Override
    public boolean isOver() {
      // What was accepted has an end, also when it came while the thread was being closed.
      return thread.inbox().isEmpty();
    }
  }

  private long turn() {
    for (Runnable next = thread.inbox().poll(); next != null; next = thread.inbox().poll()) {
      try {
        next.run();
      } catch (RuntimeException e) {
        LOG.error("while handling a message about calls", e);
      }
    }
    for (CallInFlight due = timers.take(now()); due != null; due = timers.take(now())) {
      try {
        advance(due);
      } catch (RuntimeException e) {
        LOG.error("while looking at a call", e);
      }
    }
    long next = timers.nextMillis();
    return next == CallCourse.NEVER
        ? OwnerThread.UNTIL_TOLD
        : Math.max(0, next * MS - System.nanoTime());
  }

  private void send(LaunchSpec launch) {
    CallInFlight sent = prepared(launch, false);
    if (sent == null) {
      return;
    }
    running.put(sent.key, sent);
    sent.isUnsent = true;
    starts.add(sent.service, new Unsent(sent, launch.argument()));
    sendNext();
    advance(sent);
  }

  /** Sends what waits, as far as it may. */
  private void sendNext() {
    for (Unsent next = starts.next(); next != null; next = starts.next()) {
      if (!next.call().isOver && unsent.remove(next.call().key)) {
        starts.sent(next.call().service);
        send(next.call(), next.argument());
      }
    }
  }

  private void send(CallInFlight sent, Json.Obj argument) {
    sent.isUnsent = false;
    reports.event(
        sent.key, "running", Json.object().put("call", sent.client.description(sent.call)));
    sent.startedMillis = System.currentTimeMillis();
    ask(
        sent,
        () -> sent.client.start(sent.call, argument, () -> !sent.isOver && !lease.hasEnded()),
        (answer, nowMillis) -> {
          sent.course.started(answer, nowMillis);
          JournalKey key = sent.key;
          // Of other answers the end says that the call was started, or refused.
          if (confirmsStarts
              && (answer instanceof CallAnswer.Running || answer instanceof CallAnswer.Unknown)) {
            reports.tell(sink -> sink.started(key.job(), key.node(), key.invocation()));
          }
        },
        () -> {
          starts.answered(sent.service);
          sendNext();
        });
  }

  private void take(LaunchSpec launch) {
    CallInFlight adopted = prepared(launch, true);
    if (adopted != null) {
      reports.event(
          adopted.key,
          "adopted",
          Json.object().put("call", adopted.client.description(adopted.call)));
      running.put(adopted.key, adopted);
      advance(adopted);
    }
  }

  /** Creates a call; null: it could not be made, and has ended. */
  private @Nullable CallInFlight prepared(LaunchSpec launch, boolean adopted) {
    JournalKey key = JournalKey.of(launch);
    // Who cannot ask knows nothing about a call that somebody else may have sent.
    TaskResult.Kind unusable =
        adopted ? TaskResult.Kind.OUTCOME_UNKNOWN : TaskResult.Kind.START_FAILED;
    Call call = launch.call();
    if (call == null) {
      fail(key, unusable, "it is no call");
      return null;
    }
    try {
      CallClient client = client(call.spec().executor());
      if (client == null) {
        fail(key, unusable, "there is no executor \"" + call.spec().executor() + "\" here");
        return null;
      }
      String unused = client.description(call);
      return new CallInFlight(
          launch,
          call,
          client,
          adopted ? CallCourse.adopted(call, client, now()) : CallCourse.sent(call, client));
    } catch (IllegalArgumentException e) {
      fail(key, unusable, String.valueOf(e.getMessage()));
    } catch (RuntimeException | LinkageError | ServiceConfigurationError e) {
      LOG.error("the plug-in {} that makes calls has failed", call.spec().executor(), e);
      fail(key, unusable, "the executor failed: " + e);
    }
    return null;
  }

  private @Nullable CallClient client(String executor) {
    if (clients.isEmpty()) {
      ServiceLoader.load(CallClient.class).forEach(each -> clients.put(each.executor(), each));
    }
    return clients.get(executor);
  }

  /** What takes an answer. */
  @FunctionalInterface
  private interface Answered {
    void take(CallAnswer answer, long nowMillis);
  }

  /**
   * @param over what to do when there is an answer, also to a call that has ended meanwhile
   */
  private void ask(
      CallInFlight call,
      Supplier<CompletionStage<CallAnswer>> request,
      Answered then,
      Runnable over) {
    CompletionStage<CallAnswer> answer;
    try {
      answer = request.get();
    } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      answer = CompletableFuture.failedFuture(e);
    }
    var unused =
        answer.whenComplete(
            (result, failure) ->
                thread.post(
                    () -> {
                      over.run();
                      if (running.get(call.key) != call) {
                        return;
                      }
                      if (failure != null) {
                        LOG.error("a plug-in that makes calls has failed", failure);
                      }
                      then.take(
                          failure == null
                              ? result
                              : new CallAnswer.Unknown("the executor failed: " + failure),
                          now());
                      advance(call);
                    }));
  }

  private void stop(CallInFlight call, StopReason reason) {
    if (call.isUnsent) {
      call.course.neverSent(reason);
      return;
    }
    boolean first = !call.course.isStopping();
    if (!call.course.stop(reason, now()) && first) {
      reports.event(
          call.key,
          "not_cancelled",
          Json.object().put("message", "the job does not say how to cancel its calls"));
    }
  }

  /** Does what is due of a call, and sets its timer. */
  private void advance(CallInFlight call) {
    StopReason over = call.limits.due(System.nanoTime(), System.currentTimeMillis());
    if (over != null) {
      reports.event(
          call.key, "stopped", Json.object().put("reason", over.name().toLowerCase(Locale.ROOT)));
      stop(call, over);
    }
    boolean waits = !questions.hasRoom(call.service) && call.course.nextMillis() <= now();
    CallCourse.Request request = waits ? null : call.course.due(now());
    if (request != null) {
      questions.sent(call.service);
      String handle = call.course.handle();
      ask(
          call,
          () ->
              request == CallCourse.Request.POLL
                  ? call.client.poll(call.call, handle)
                  : call.client.cancel(call.call, handle),
          (answer, at) -> {
            call.course.answered(request, answer, at);
            tell(call, call.poll(at));
          },
          () -> answered(call.service));
    }
    if (!call.trouble.equals(call.course.trouble())) {
      call.trouble = call.course.trouble();
      if (!call.trouble.isEmpty()) {
        reports.event(call.key, "in_doubt", Json.object().put("message", call.trouble));
        if (!call.client.canPoll(call.call)) {
          // No answer to a poll will tell.
          tell(call, call.poll(now()));
        }
      }
    }
    tell(call, call.takeProgress());
    CallCourse.End end = call.course.end();
    if (end != null) {
      call.isOver = true;
      running.remove(call.key);
      timers.set(call, CallCourse.NEVER);
      finish(call.key, end, call.startedMillis, call.course.counters());
      return;
    }
    if (waits && !call.isWaiting) {
      call.isWaiting = true;
      questions.add(call.service, call);
    }
    long at = waits ? CallCourse.NEVER : call.course.nextMillis();
    long wait = call.limits.waitNanos(System.nanoTime(), System.currentTimeMillis());
    if (wait != TaskTimeLimits.NEVER) {
      at = Math.min(at, now() + wait / MS + 1);
    }
    timers.set(call, at);
  }

  private void tell(CallInFlight call, @Nullable Progress news) {
    if (news != null) {
      JournalKey key = call.key;
      reports.tell(sink -> sink.progress(key.job(), key.node(), key.invocation(), news));
    }
  }

  /** A question was answered: the next may be asked. */
  private void answered(String service) {
    questions.answered(service);
    for (CallInFlight next = questions.next(); next != null; next = questions.next()) {
      next.isWaiting = false;
      if (running.get(next.key) == next) {
        advance(next);
      }
    }
  }

  private void finish(JournalKey key, CallCourse.End end, long startedMillis, Counters counters) {
    end(key, reports.result(key, end, startedMillis, counters));
  }

  private void fail(JournalKey key, TaskResult.Kind kind, String message) {
    finish(key, new CallCourse.End(kind, null, message, 0, null), 0, Counters.NONE);
  }

  /** Says whether the listener is to be told of each call that was answered. Any thread. */
  public void confirmStarts(boolean wanted) {
    confirmsStarts = wanted;
  }

  private void end(JournalKey key, TaskResult result) {
    InvocationLimits unused = known.remove(key);
    unsent.remove(key);
    reports.tell(sink -> sink.ended(result));
  }

  /**
   * Lets go of all calls: each that was sent ends here as lost, and its service goes on. A
   * successor asks about it.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      thread.post(this::letGoOfAll);
    }
    thread.close(CLOSE_BOUND);
  }

  private static void letGo(CallInFlight call, String why) {
    if (call.isUnsent) {
      // Nobody need ask a service that would not know it.
      call.course.started(new CallAnswer.NotStarted(why, 1), now());
    } else {
      call.course.letGo(why);
    }
  }

  private void letGoOfAll() {
    for (CallInFlight call : new ArrayList<>(running.values())) {
      letGo(call, "its runner was stopped");
      advance(call);
    }
    clients.values().forEach(CallClient::close);
  }
}
