package io.espalier.core.loop.notify;

import io.espalier.core.notification.Notification;
import io.espalier.core.notification.NotifiedKind;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.pace.Jitter;
import io.espalier.core.status.store.StoreTransaction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The notifications that wait for one receiver, and which of them is sent next. One is under way at
 * a time. Those of one subject are sent in order; one that the receiver refuses again and again
 * lets other subjects pass. Not thread-safe.
 */
final class NotifierQueue {
  /** The number of waiting notifications from which on further events are merged into one more. */
  static final int MOST = 1_000;

  /** The longest pause after a failure. */
  static final long LONGEST_PAUSE_MILLIS = 60_000;

  /** How long events that are told in numbers are collected. */
  static final long COLLECTED_MILLIS = 5_000;

  /** How long every attempt must have failed until that is a problem of the scheduler. */
  static final long PROBLEM_MILLIS = 300_000;

  private static final long FIRST_PAUSE_MILLIS = 1_000;

  /** The subject of the notification that replaces all that are too many. */
  private static final String TOO_MANY = "merged";

  /** The number of attempts after which others are tried first. */
  private static final int PATIENCE = 3;

  private final String name;
  private final List<Waiting> waiting = new ArrayList<>();
  private NotifierSpec spec;
  private @Nullable Waiting underWay;
  private long pauseUntil;
  private int failuresInRow;
  private long sent;
  private long failures;
  private long merged;
  private long failingSince;
  private long lastSent;
  private String lastError = "";

  /** A notification that is not sent yet. */
  static final class Waiting {
    private Notification notification;
    private long newest;
    private long notBefore;
    private boolean isUrgent;
    private int attempts;

    /** Whether the receiver may have it already: its content no longer changes. */
    private boolean mayBeKnown;

    /**
     * @param newest sequence of the newest event in it, which must be durable first
     */
    Waiting(Notification notification, long newest) {
      this.notification = notification;
      this.newest = newest;
    }

    Notification notification() {
      return notification;
    }

    private boolean isForTooMany() {
      return notification.subject().equals(TOO_MANY);
    }
  }

  NotifierQueue(String name, NotifierSpec spec) {
    this.name = name;
    this.spec = spec;
  }

  NotifierSpec spec() {
    return spec;
  }

  /** Sets what the configuration says now; what was changed is tried at once. */
  void configured(NotifierSpec newSpec) {
    if (!newSpec.equals(spec)) {
      spec = newSpec;
      pauseUntil = 0;
    }
  }

  /** Adds a stored notification, which the leader before may have sent. */
  void restore(Notification stored) {
    Waiting restored = new Waiting(stored, 0);
    restored.mayBeKnown = true;
    waiting.add(restored);
  }

  /** Removes what is stored of it. */
  void remove(StoreTransaction.Builder batch) {
    waiting.forEach(each -> batch.endNotification(each.notification.key()));
  }

  /**
   * Adds a notification of a new event.
   *
   * @param isUrgent whether it is sent before it is durable
   */
  void add(
      Notification fresh, NotifiedKind kind, boolean isUrgent, StoreTransaction.Builder batch) {
    boolean tooMany = waiting.size() >= MOST;
    String subject = tooMany ? TOO_MANY : fresh.subject();
    Waiting last = tooMany || kind.isInNumbers() ? latestUnknown(subject) : null;
    if (last != null) {
      Notification before = last.notification;
      int count = before.count() + 1;
      last.notification =
          before.merged(fresh, tooMany ? tooMany(count, fresh) : kind.summary(fresh.data(), count));
      last.newest = fresh.sequence();
      merged++;
    } else {
      last =
          new Waiting(tooMany ? fresh.about(TOO_MANY, tooMany(1, fresh)) : fresh, fresh.sequence());
      last.isUrgent = isUrgent;
      last.notBefore = kind.isInNumbers() ? fresh.timeMillis() + COLLECTED_MILLIS : 0;
      waiting.add(last);
    }
    batch.notification(last.notification);
  }

  private static String tooMany(int count, Notification latest) {
    return count + " more notifications, merged into one; the latest: " + latest.summary();
  }

  /** Returns the latest notification of a subject, unless the receiver may have it already. */
  private @Nullable Waiting latestUnknown(String subject) {
    for (int i = waiting.size() - 1; i >= 0; i--) {
      Waiting each = waiting.get(i);
      if (each.notification.subject().equals(subject)) {
        return each.mayBeKnown ? null : each;
      }
    }
    return null;
  }

  /**
   * Returns the notification to send now, which is under way from then on; null: none.
   *
   * @param durable sequence up to which events are durable
   */
  @Nullable Waiting next(long nowMillis, long durable) {
    if (underWay != null || nowMillis < pauseUntil) {
      return null;
    }
    Waiting best = null;
    for (Waiting each : inTurn(durable)) {
      if (each.notBefore <= nowMillis && (best == null || rank(each) < rank(best))) {
        best = each;
      }
    }
    if (best != null) {
      best.mayBeKnown = true;
    }
    underWay = best;
    return best;
  }

  /**
   * Returns the first notification of each subject, as far as it may be sent. The merged one is of
   * all subjects: it waits for all before it, except those that the receiver refuses again and
   * again.
   */
  private List<Waiting> inTurn(long durable) {
    List<Waiting> inTurn = new ArrayList<>();
    Set<String> subjects = new HashSet<>();
    boolean isPreceded = false;
    for (Waiting each : waiting) {
      boolean isFirst = subjects.add(each.notification.subject());
      if (isFirst
          && !(each.isForTooMany() && isPreceded)
          && (each.isUrgent || each.newest <= durable)) {
        inTurn.add(each);
      }
      isPreceded |= rank(each) == 0;
    }
    return inTurn;
  }

  private static int rank(Waiting waiting) {
    return Math.max(0, waiting.attempts - PATIENCE);
  }

  /**
   * Records how an attempt went.
   *
   * @param error why it failed; empty: the receiver has it
   */
  void answered(
      Waiting tried, String error, long nowMillis, Jitter jitter, StoreTransaction.Builder batch) {
    underWay = null;
    tried.attempts++;
    lastError = error;
    if (error.isEmpty()) {
      waiting.remove(tried);
      batch.endNotification(tried.notification.key());
      sent++;
      lastSent = nowMillis;
      failuresInRow = 0;
      failingSince = 0;
      return;
    }
    failures++;
    failingSince = failingSince == 0 ? nowMillis : failingSince;
    long pause = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failuresInRow, 10));
    pauseUntil = nowMillis + jitter.shorten(pause, Jitter.OF_RETRIES);
    failuresInRow++;
  }

  /** When {@link #next} may have something; {@link Long#MAX_VALUE}: after something else. */
  long nextMillis(long durable) {
    long next = Long.MAX_VALUE;
    if (underWay == null) {
      for (Waiting each : inTurn(durable)) {
        next = Math.min(next, each.notBefore);
      }
    }
    return next == Long.MAX_VALUE ? next : Math.max(next, pauseUntil);
  }

  /** Whether something waits that its receiver was not found unable to take. */
  boolean isSending() {
    return underWay != null || (!waiting.isEmpty() && failuresInRow == 0);
  }

  /** Returns what is wrong with a receiver that has failed for long; null: nothing is. */
  @Nullable String problem(long nowMillis) {
    if (failingSince == 0 || nowMillis - failingSince < PROBLEM_MILLIS) {
      return null;
    }
    return name
        + " has taken nothing since "
        + Instant.ofEpochMilli(failingSince)
        + " ("
        + lastError
        + "), "
        + waiting.size()
        + (waiting.size() == 1 ? " notification waits" : " notifications wait");
  }

  NotifierView view() {
    return new NotifierView(
        name,
        spec.kind(),
        spec.target(),
        waiting.size(),
        waiting.stream().mapToLong(each -> each.notification.timeMillis()).min().orElse(0),
        sent,
        failures,
        merged,
        failingSince,
        lastSent,
        lastError);
  }
}
