package io.espalier.server.store.archive;

import io.espalier.core.loop.LoopInput;
import io.espalier.core.status.store.StatusStore;
import io.espalier.server.store.StoreCleaner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the statuses of jobs expire that have not been configured for a time: they are archived and
 * then forgotten (docs/stores.md#finished-jobs).
 *
 * <p>The scheduler thread decides whether a job is absent, and forgets it only if it was absent all
 * the time since, so that no task which is done can run again by a change of the configuration
 * meanwhile. A crash after the file is written leaves the statuses in the store; the next look
 * writes the same file again.
 */
public final class JobExpiry implements StoreCleaner.Chore {
  private static final Logger LOG = LoggerFactory.getLogger(JobExpiry.class);
  private static final long ANSWER_SECONDS = 60;

  private final StatusStore store;
  private final long epoch;
  private final StatusArchive archive;
  private final Consumer<LoopInput> loop;
  private final Duration keep;
  private final InstantSource clock;

  /**
   * @param loop takes inputs of the scheduler
   * @param keep how long statuses stay after their job was removed; more than 0
   */
  public JobExpiry(
      StatusStore store,
      long epoch,
      StatusArchive archive,
      Consumer<LoopInput> loop,
      Duration keep,
      InstantSource clock) {
    this.store = store;
    this.epoch = epoch;
    this.archive = archive;
    this.loop = loop;
    this.keep = keep;
    this.clock = clock;
  }

  @Override
  public void look() throws InterruptedException {
    try {
      Set<String> stored = store.jobs();
      CompletableFuture<Set<String>> found = new CompletableFuture<>();
      loop.accept(new LoopInput.FindAbsent(stored, found));
      long now = clock.millis();
      Map<String, Long> absences = noted(answer(found), now);
      long before = now - keep.toMillis();
      for (Map.Entry<String, Long> absent : absences.entrySet()) {
        if (absent.getValue() <= before) {
          expire(absent.getKey(), absent.getValue(), before);
        }
      }
    } catch (IOException e) {
      LOG.warn("jobs that are not configured do not expire: {}", e.toString());
    } catch (TimeoutException | ExecutionException e) {
      LOG.warn("jobs that are not configured do not expire: the scheduler does not answer");
    }
  }

  /** Stores since when jobs are absent, if that has changed, and returns it. */
  private Map<String, Long> noted(Set<String> absent, long now) {
    Map<String, Long> known = store.absences();
    Map<String, Long> absences = new TreeMap<>();
    for (String job : absent) {
      absences.put(job, known.getOrDefault(job, now));
    }
    if (!absences.equals(known)) {
      store.keepAbsences(epoch, absences);
    }
    return absences;
  }

  private void expire(String job, long absentMillis, long before)
      throws IOException, InterruptedException, TimeoutException, ExecutionException {
    Optional<Path> file = archive.write(store, job, absentMillis, before);
    if (file.isEmpty()) {
      return;
    }
    CompletableFuture<Boolean> forgotten = new CompletableFuture<>();
    loop.accept(
        new LoopInput.ForgetAbsent(
            job,
            "not configured since " + Instant.ofEpochMilli(absentMillis),
            String.valueOf(file.get().getFileName()),
            forgotten));
    if (answer(forgotten)) {
      LOG.info(
          "job {} is not configured since {}: its statuses are in {} and no longer in {}",
          job,
          Instant.ofEpochMilli(absentMillis),
          file.get(),
          store.description());
      archive.trim(file.get());
    } else {
      Files.deleteIfExists(file.get());
    }
  }

  private static <T> T answer(CompletableFuture<T> answer)
      throws InterruptedException, TimeoutException, ExecutionException {
    return answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
  }
}
