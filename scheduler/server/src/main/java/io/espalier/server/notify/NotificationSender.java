package io.espalier.server.notify;

import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.Notifier;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.notification.WebhookSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends notifications on threads of its own, one for each that is under way, so that a slow
 * receiver delays only its own notifications. Without notifications it has no thread. Thread-safe.
 */
public final class NotificationSender implements LoopPorts.Notifications, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NotificationSender.class);

  /** More than there may be notifiers: the rest is for tests. */
  private static final int MOST_THREADS = 120;

  private static final int ID_CHARACTERS = 8;

  private final String store;
  private final Map<String, Notifier> notifiers = new TreeMap<>();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0,
          MOST_THREADS,
          30,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          work -> {
            Thread thread = new Thread(work, "notifications");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param storeId id of the status store, which makes ids of notifications unique
   */
  public NotificationSender(String storeId, InstantSource clock) {
    store = storeId.substring(0, Math.min(ID_CHARACTERS, storeId.length()));
    for (Notifier each : List.of(new Webhook(clock))) {
      notifiers.put(each.kind(), each);
    }
  }

  @Override
  public CompletionStage<String> send(NotifierSpec to, Notification what) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    try {
      threads.execute(() -> answer.complete(sent(to, what)));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // The machine may have no more threads to give.
      answer.complete("too many notifications are under way");
    }
    return answer;
  }

  private String sent(NotifierSpec to, Notification what) {
    String error;
    try {
      Notifier notifier = notifiers.get(to.kind());
      error =
          notifier == null
              ? "there is no kind of notifier called " + to.kind()
              : notifier.send(to.options(), what, store + "-" + what.id());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "the scheduler ends";
    } catch (RuntimeException | Error e) {
      // Without an answer its receiver would be told nothing any more.
      LOG.warn("notifier {} has a bug", to.kind(), e);
      error = "it failed: " + e;
    }
    LOG.debug("notification {} to {}: {}", what.id(), what.notifier(), error);
    return error;
  }

  /** Returns what keeps notifications from being sent whatever happens; null: nothing known. */
  public @Nullable String problem(Map<String, NotifierSpec> configured) {
    for (Map.Entry<String, NotifierSpec> each : new TreeMap<>(configured).entrySet()) {
      Json file = each.getValue().options().get("secret_file");
      if (each.getValue().kind().equals(WebhookSpec.KIND)
          && file instanceof Json.Str name
          && !Files.isReadable(Path.of(name.value()))) {
        return "notifier "
            + each.getKey()
            + " can send nothing: its secret_file "
            + name.value()
            + " cannot be read";
      }
    }
    return null;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
