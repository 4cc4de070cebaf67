package io.espalier.core.loop.notify;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.NotifiedKind;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.notification.Severity;
import io.espalier.core.pace.Jitter;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The outbox (docs/adr/0078-notifications.md): turns events into notifications, which become
 * durable with them, sends them when they are, and deletes them when their receiver has them. Only
 * the owner of the loop calls it.
 */
public final class Outbox {
  private static final Set<String> OF_STORE = Set.of(SchedulerView.STORE, SchedulerView.BEHIND);

  private final LoopPorts ports;
  private final Supplier<StoreTransaction.Builder> batch;
  private final long epoch;
  private final Jitter jitter;
  private final SortedMap<String, NotifierQueue> queues = new TreeMap<>();
  private List<Notification> restored = List.of();
  private @Nullable Config config;
  private long durable;
  private boolean changed;
  private boolean stopped;

  /**
   * @param batch returns the changes of the current step
   * @param epoch part of the ids of new notifications
   */
  public Outbox(LoopPorts ports, Supplier<StoreTransaction.Builder> batch, long epoch) {
    this.ports = ports;
    this.batch = batch;
    this.epoch = epoch;
    this.jitter = new Jitter(epoch);
  }

  /** Takes over the stored notifications, in the order of their events. */
  public void restore(List<Notification> stored) {
    restored = stored;
  }

  /** Follows the configuration. What waits for a notifier that is gone is deleted. */
  public void configured(Config newConfig) {
    config = newConfig;
    Map<String, NotifierSpec> specs = newConfig.settings().notifications();
    queues.forEach(
        (name, queue) -> {
          if (!specs.containsKey(name)) {
            queue.remove(batch.get());
          }
        });
    queues.keySet().retainAll(specs.keySet());
    specs.forEach(
        (name, spec) ->
            queues.computeIfAbsent(name, fresh -> new NotifierQueue(name, spec)).configured(spec));
    for (Notification each : restored) {
      NotifierQueue queue = queues.get(each.notifier());
      if (queue == null) {
        batch.get().endNotification(each.key());
      } else {
        queue.restore(each);
      }
    }
    restored = List.of();
    changed = true;
  }

  /** Returns whether an event is told to somebody; if so, that is added to the batch. */
  public boolean add(Event event) {
    NotifiedKind kind = queues.isEmpty() ? null : NotifiedKind.of(event.kind());
    Severity severity = kind == null ? null : kind.severity(event.data());
    if (kind == null || severity == null) {
      return false;
    }
    Json.Obj about = about(event.data());
    boolean isTold = false;
    for (Map.Entry<String, NotifierQueue> each : queues.entrySet()) {
      if (fits(each.getValue().spec().when(), event.kind(), severity, about)) {
        Notification fresh =
            new Notification(
                each.getKey(),
                event.sequence(),
                epoch + "." + event.sequence(),
                event.kind(),
                severity,
                kind.subject(event.data()),
                kind.summary(event.data(), 1),
                event.timeMillis(),
                1,
                about,
                event.data());
        each.getValue().add(fresh, kind, isOfStore(event), batch.get());
        isTold = true;
      }
    }
    changed |= isTold;
    return isTold;
  }

  /** The store cannot tell about its own trouble. */
  private static boolean isOfStore(Event event) {
    return event.kind().equals(EventKind.PROBLEM_RAISED.word())
        && event.data().get("source") instanceof Json.Str source
        && OF_STORE.contains(source.value());
  }

  private Json.Obj about(Json.Obj data) {
    Json.Builder about = Json.object();
    for (String name : Notification.ABOUT) {
      about.putIfPresent(name, data.get(name));
    }
    Json.Obj said = about.build();
    Job job =
        config != null && said.get("job") instanceof Json.Str name
            ? config.job(name.value())
            : null;
    if (job == null) {
      return said;
    }
    Json.Obj all = said.with("queue", Json.of(job.scheduling().queue()));
    all = job.set().isEmpty() ? all : all.with("set", Json.of(job.set()));
    return job.owner().isEmpty() ? all : all.with("owner", Json.of(job.owner()));
  }

  private static boolean fits(
      NotifierSpec.Filter when, String kind, Severity severity, Json.Obj about) {
    return severity.compareTo(when.severity()) >= 0
        && (when.kinds().isEmpty() || when.kinds().contains(kind))
        && fits(when.jobs(), about.get("job"))
        && fits(when.sets(), about.get("set"))
        && fits(when.queues(), about.get("queue"))
        && fits(when.owners(), about.get("owner"));
  }

  private static boolean fits(Set<String> wanted, @Nullable Json name) {
    return wanted.isEmpty() || (name instanceof Json.Str text && wanted.contains(text.value()));
  }

  /** Takes note that all events up to a sequence are durable. */
  public void durable(long sequence) {
    durable = Math.max(durable, sequence);
  }

  /** Sends what is due. */
  public void step(long nowMillis) {
    if (stopped) {
      return;
    }
    queues.forEach(
        (name, queue) -> {
          NotifierQueue.Waiting next = queue.next(nowMillis, durable);
          if (next != null) {
            changed = true;
            ports
                .notifications()
                .send(queue.spec(), next.notification())
                .thenAccept(
                    error -> ports.owner().accept(now -> answered(name, queue, next, error, now)));
          }
        });
  }

  private void answered(
      String name, NotifierQueue queue, NotifierQueue.Waiting tried, String error, long nowMillis) {
    // A notifier that is gone has no rows left.
    if (queue.equals(queues.get(name))) {
      queue.answered(tried, error, nowMillis, jitter, batch.get());
      changed = true;
    }
  }

  /**
   * Sends a test to a notifier at once, beside what waits.
   *
   * @return a stage that completes with why it failed; empty: the receiver has it
   * @throws RefusedException when there is no such notifier
   */
  public CompletionStage<String> test(String name, String author, long nowMillis) {
    NotifierQueue queue = queues.get(name);
    if (queue == null) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "there is no notifier \""
              + name
              + "\"; "
              + (queues.isEmpty()
                  ? "the settings have no \"notifications\""
                  : Suggestions.hint(name, new ArrayList<>(queues.keySet()))));
    }
    return ports
        .notifications()
        .send(
            queue.spec(),
            new Notification(
                name,
                0,
                "test-" + epoch + "." + nowMillis,
                "test",
                Severity.INFO,
                "test",
                "this is a test of the notifier "
                    + name
                    + (author.isEmpty() ? "" : ", sent by " + author),
                nowMillis,
                1,
                Json.Obj.EMPTY,
                Json.Obj.EMPTY));
  }

  /** Sends nothing more. */
  public void stop() {
    stopped = true;
  }

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: only after an input. */
  public long nextMillis() {
    long next = Long.MAX_VALUE;
    for (NotifierQueue queue : stopped ? List.<NotifierQueue>of() : queues.values()) {
      next = Math.min(next, queue.nextMillis(durable));
    }
    return next;
  }

  /** Returns whether a receiver that works has not got everything yet. */
  public boolean isSending() {
    return !stopped && queues.values().stream().anyMatch(NotifierQueue::isSending);
  }

  /** Returns which receivers have failed for long, and how; null: none. */
  public @Nullable String problem(long nowMillis) {
    List<String> failing = new ArrayList<>();
    for (NotifierQueue queue : queues.values()) {
      String problem = queue.problem(nowMillis);
      if (problem != null) {
        failing.add(problem);
      }
    }
    return failing.isEmpty() ? null : ShortText.few(failing, "; ");
  }

  /** Returns the notifiers if something about them has changed since the last call, else null. */
  public @Nullable List<NotifierView> changes() {
    if (!changed) {
      return null;
    }
    changed = false;
    return queues.values().stream().map(NotifierQueue::view).toList();
  }
}
