package io.espalier.core.call;

import io.espalier.core.call.CallClient.PollPace;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.pace.Jitter;
import io.espalier.core.running.Call;
import io.espalier.core.running.Counters;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import org.jspecify.annotations.Nullable;

/**
 * The course of one call, from its sending until its end is known: a pure state machine. Inputs are
 * answers, requests to stop, and time; the outputs are the next request and, at last, the end. A
 * call is sent at most once. It is over only when the service has said so, or has confirmed nothing
 * for as long as the job allows: then its outcome is unknown.
 *
 * <p>Not thread-safe. All instants are milliseconds of one clock that does not go back.
 */
public final class CallCourse {
  /** The result of {@link #nextMillis} when only an answer can change something. */
  public static final long NEVER = Long.MAX_VALUE;

  private final boolean idempotent;
  private final long holdMillis;
  private final boolean canPoll;
  private final boolean canCancel;

  /** Whether the service reports the end by itself: questions are then only the fallback. */
  private final boolean callsBack;

  private final boolean provesAbsence;
  private final PollPace pace;
  private final Jitter jitter;

  /** Whether the request that starts the call has no answer yet. */
  private boolean starting;

  /** Whether another request has no answer yet. */
  private boolean asking;

  /** Whether a start or a question was answered by the service itself. */
  private boolean confirmed;

  /** Since when the service has confirmed nothing though it was asked; NEVER: it is not overdue. */
  private long silentSince = NEVER;

  /** Whether the service was asked since then. */
  private boolean askedSince;

  private String handle = "";
  private long waitMillis;
  private long nextMillis = NEVER;
  private @Nullable StopReason stop;
  private boolean cancelAccepted;
  private String trouble = "";
  private @Nullable End end;
  private Json.@Nullable Obj progress;
  private Counters counters = Counters.NONE;

  /** What to do next. */
  public enum Request {
    POLL,
    CANCEL
  }

  /**
   * How the call ended.
   *
   * @param status the status line of the service; null: it gave none
   * @param message why, for other kinds than {@code EXITED}
   */
  public record End(
      TaskResult.Kind kind,
      @Nullable String status,
      @Nullable String message,
      long retryAfterMillis,
      @Nullable StopReason stop) {}

  private CallCourse(Call call, CallClient client, boolean starting) {
    this.idempotent = call.spec().idempotent();
    this.holdMillis = call.spec().unknownHold().toMillis();
    this.canPoll = client.canPoll(call);
    this.canCancel = client.canCancel(call);
    this.callsBack = !call.callback().isEmpty();
    this.provesAbsence = client.provesAbsence(call);
    this.pace = client.pace(call);
    this.jitter = new Jitter(call.name(CallSpec.INVOCATION).hashCode());
    this.starting = starting;
    this.waitMillis = firstWait();
  }

  private long firstWait() {
    return callsBack && stop == null ? pace.mostMillis() : pace.firstMillis();
  }

  /** Returns the course of a call that is being sent now. */
  public static CallCourse sent(Call call, CallClient client) {
    return new CallCourse(call, client, true);
  }

  /**
   * Returns the course of a call that somebody else may have sent, and that must not be sent again.
   */
  public static CallCourse adopted(Call call, CallClient client, long nowMillis) {
    CallCourse course = new CallCourse(call, client, false);
    if (course.awaitsCallback()) {
      return course;
    }
    course.doubt("the process that made this call was lost", nowMillis);
    return course;
  }

  /** Takes the answer to the request that starts the call. */
  public void started(CallAnswer answer, long nowMillis) {
    if (!starting || end != null) {
      return;
    }
    starting = false;
    if (answer instanceof CallAnswer.NotStarted refused) {
      boolean later = refused.retryAfterMillis() > 0;
      finish(
          later ? TaskResult.Kind.NOT_STARTED : TaskResult.Kind.START_FAILED,
          refused.message(),
          refused.retryAfterMillis());
    } else if (answer instanceof CallAnswer.Unknown unknown) {
      doubt(unknown.message(), nowMillis);
    } else if (answer instanceof CallAnswer.NotFound missing) {
      finish(TaskResult.Kind.CALL_FAILED, missing.message(), 0);
    } else {
      take(answer, nowMillis);
    }
  }

  /** Whether nothing is to be done until the service reports the end, or the call is stopped. */
  private boolean awaitsCallback() {
    return callsBack && !canPoll && stop == null;
  }

  /** Takes the answer to a request that {@link #due} has returned. */
  public void answered(Request request, CallAnswer answer, long nowMillis) {
    if (end != null) {
      return;
    }
    asking = false;
    if (answer instanceof CallAnswer.NotFound missing) {
      absent(request, missing.message(), nowMillis);
    } else if (answer instanceof CallAnswer.NotStarted refused) {
      trouble = refused.message();
      retry(Math.max(waitMillis, refused.retryAfterMillis()), nowMillis);
    } else if (answer instanceof CallAnswer.Unknown unknown) {
      trouble = unknown.message();
      retry(waitMillis, nowMillis);
    } else if (starting && answer instanceof CallAnswer.Cancelled) {
      // The call may still arrive: once its start is answered it is cancelled again.
      retry(waitMillis, nowMillis);
    } else {
      cancelAccepted |= request == Request.CANCEL && !starting;
      take(answer, nowMillis);
    }
  }

  /** Takes an answer with the state of the call. */
  private void take(CallAnswer answer, long nowMillis) {
    confirmed = true;
    silentSince = NEVER;
    askedSince = false;
    trouble = "";
    if (answer instanceof CallAnswer.Ended ended) {
      counters = counters.latest(ended.counters().fitting(counters));
      end = new End(TaskResult.Kind.EXITED, ended.status(), null, 0, stop);
    } else if (answer instanceof CallAnswer.Cancelled) {
      finish(TaskResult.Kind.KILLED, "the service has cancelled it", 0);
    } else if (answer instanceof CallAnswer.Failed failed) {
      finish(TaskResult.Kind.CALL_FAILED, failed.message(), 0);
    } else if (answer instanceof CallAnswer.Running running) {
      handle = running.handle().isEmpty() ? handle : running.handle();
      progress = running.progress();
      counters = counters.latest(running.counters().fitting(counters));
      retry(waitMillis, nowMillis);
      if (!canPoll && !awaitsCallback()) {
        doubt("the service goes on with it, but the job does not say how to ask", nowMillis);
      }
    }
  }

  /** Nobody knows whether the service has the call. */
  private void doubt(String message, long nowMillis) {
    trouble = message;
    silentSince = silentSince == NEVER ? nowMillis : silentSince;
    if (idempotent && !canPoll && !callsBack) {
      finish(TaskResult.Kind.CALL_FAILED, "outcome unknown: " + message, 0);
      return;
    }
    nextMillis = canPoll || mayCancel() ? nowMillis : NEVER;
  }

  private boolean mayCancel() {
    return stop != null && canCancel && !cancelAccepted;
  }

  /** The service does not know the call: perhaps not yet, or not any more. */
  private void absent(Request request, String message, long nowMillis) {
    trouble = message;
    boolean mayTryAgain = provesAbsence || idempotent;
    if (mayTryAgain && request == Request.POLL && !confirmed && !starting) {
      finish(TaskResult.Kind.START_FAILED, "the service never received it: " + message, 0);
      return;
    }
    retry(waitMillis, nowMillis);
  }

  private void retry(long wait, long nowMillis) {
    // Between 80 and 120 percent: many calls that began together are not asked about together.
    long pause = jitter.shorten(wait * 6 / 5, 1.0 / 3);
    boolean asks = canPoll || mayCancel();
    nextMillis = asks ? nowMillis + Math.max(1, pause) : NEVER;
    if (asks && silentSince != NEVER && nextMillis > silentSince + holdMillis) {
      // A last question, before the call is given up.
      nextMillis = Math.max(nowMillis + 1, silentSince + holdMillis - 1);
    }
    waitMillis = Math.min(pace.mostMillis(), waitMillis + waitMillis / 2 + 1);
  }

  /**
   * Requests that the call be stopped: the service is told to cancel it, if it can be told. The
   * first reason counts.
   *
   * @return whether there is a way to tell the service
   */
  public boolean stop(StopReason reason, long nowMillis) {
    if (end == null && stop == null) {
      stop = reason;
      waitMillis = firstWait();
      if (canCancel) {
        nextMillis = nowMillis;
      } else if (callsBack && !canPoll && !starting) {
        doubt("it was to end, and its service does not call back", nowMillis);
      }
    }
    return canCancel;
  }

  /** Ends a call that was to stop before it was sent. */
  public void neverSent(StopReason reason) {
    if (starting && end == null) {
      stop = reason;
      finish(TaskResult.Kind.KILLED, "it was stopped before it was sent", 0);
    }
  }

  /** Ends the call here without touching the service: somebody else will ask about it. */
  public void letGo(String message) {
    if (end == null) {
      finish(TaskResult.Kind.LOST, message, 0);
    }
  }

  /**
   * Returns the request that is due; null: none. Its answer must follow. A call that nobody has
   * confirmed for too long ends here.
   */
  public @Nullable Request due(long nowMillis) {
    if (end != null) {
      return null;
    }
    // A call that had to wait for its turn to be asked about is asked about once, however late.
    boolean isOverdue =
        silentSince != NEVER
            && (askedSince || nextMillis == NEVER)
            && nowMillis - silentSince >= holdMillis;
    if (!starting && !asking && isOverdue) {
      finish(
          idempotent ? TaskResult.Kind.CALL_FAILED : TaskResult.Kind.OUTCOME_UNKNOWN, trouble, 0);
      return null;
    }
    if (asking || nowMillis < nextMillis) {
      return null;
    }
    nextMillis = NEVER;
    asking = true;
    askedSince = true;
    silentSince = silentSince == NEVER ? nowMillis : silentSince;
    return mayCancel() ? Request.CANCEL : Request.POLL;
  }

  /** Returns when {@link #due} must be called again, unless an answer comes before. */
  public long nextMillis() {
    if (end != null || asking) {
      return NEVER;
    }
    return starting || silentSince == NEVER
        ? nextMillis
        : Math.min(nextMillis, silentSince + holdMillis);
  }

  private void finish(TaskResult.Kind kind, String message, long retryAfterMillis) {
    end = new End(kind, null, message, retryAfterMillis, stop);
  }

  /** Returns whether a stop was requested. */
  public boolean isStopping() {
    return stop != null;
  }

  /** Returns how it ended; null: it has not. */
  public @Nullable End end() {
    return end;
  }

  /** Returns what the service calls it; empty: nothing so far. */
  public String handle() {
    return handle;
  }

  /** Returns why its outcome is in doubt; empty: it is not. */
  public String trouble() {
    return trouble;
  }

  /** Returns the largest value that the service gave for each counter. */
  public Counters counters() {
    return counters;
  }

  /** Returns the progress since the last call of this method; null: none. */
  public Json.@Nullable Obj takeProgress() {
    Json.Obj newest = progress;
    progress = null;
    return newest;
  }
}
