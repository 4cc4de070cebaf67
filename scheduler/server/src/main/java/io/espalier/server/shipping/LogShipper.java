package io.espalier.server.shipping;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.server.shipping.LogReceiver.Line;
import io.espalier.server.store.DataDirectory;
import io.espalier.worker.thread.PollingThread;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends all lines of a log store to a receiver, in order, each at least once. After a start it goes
 * on after the last line that the receiver took, and the first time with the oldest line. While the
 * receiver fails it tries again, with pauses that grow to a minute; lines wait in the store for as
 * long as the store keeps them. It has a thread.
 */
public final class LogShipper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogShipper.class);

  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
  private static final long CLOSE_SECONDS = 10;
  private static final int PAGE_LINES = 1_000;

  /** Characters of JSON from which on a call takes no further line. */
  private static final int ENOUGH_CHARS = 1 << 20;

  private final LogStore logs;
  private final DataDirectory data;
  private final LogAddress address;
  private final LogReceiver receiver;
  private final String worker;
  private final Consumer<@Nullable String> onProblem;
  private final PollingThread thread;
  private final CountDownLatch flushed = new CountDownLatch(1);
  private final AtomicLong shipped = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private volatile boolean closing;
  private volatile long waitingSinceMillis;

  // Confined to the thread.
  private long next;
  private Duration pause = PERIOD;
  private boolean failing;

  private LogShipper(
      LogStore logs,
      DataDirectory data,
      LogAddress address,
      String worker,
      Consumer<@Nullable String> onProblem) {
    this.logs = logs;
    this.data = data;
    this.address = address;
    this.receiver = address.open();
    this.worker = worker;
    this.onProblem = onProblem;
    this.thread =
        new PollingThread(
            "log-shipper", "shipping logs", InstantSource.system(), LONGEST_PAUSE, this::ship);
  }

  /**
   * Starts to send.
   *
   * @param data contains the position
   * @param worker name of this worker or local runner in the lines
   * @param onProblem receives what keeps lines from being sent, and null when they are sent again;
   *     called on the thread of the shipper
   */
  public static LogShipper start(
      LogStore logs,
      DataDirectory data,
      LogAddress address,
      String worker,
      Consumer<@Nullable String> onProblem) {
    LogShipper shipper = new LogShipper(logs, data, address, worker, onProblem);
    shipper.next = data.shippedLogs();
    LOG.info("the output of tasks is sent to {}", address);
    shipper.thread.dueIn(Duration.ZERO);
    shipper.thread.start();
    return shipper;
  }

  /** Returns the number of lines that the receiver has taken. */
  public long shipped() {
    return shipped.get();
  }

  /** Returns the number of failed calls of the receiver. */
  public long failures() {
    return failures.get();
  }

  /** Returns for how long the oldest line that waits for a failing receiver has waited. */
  public Duration behind() {
    long since = waitingSinceMillis;
    return since == 0
        ? Duration.ZERO
        : Duration.ofMillis(Math.max(0, System.currentTimeMillis() - since));
  }

  private void ship(Instant now) throws InterruptedException {
    boolean ends = closing;
    try {
      while (shipPage()) {
        LOG.trace("sent up to {}", next);
      }
      succeeded();
    } catch (IOException | RuntimeException e) {
      // Also when the logs cannot be read, or the position cannot be kept.
      failed(e);
    } finally {
      if (ends) {
        flushed.countDown();
      }
    }
    thread.dueIn(closing && !ends ? Duration.ZERO : pause);
  }

  /** Sends the next lines; false when there were no more. */
  private boolean shipPage() throws IOException, InterruptedException {
    LogPage page =
        logs.query(
            LogQuery.of(EnumSet.allOf(LogLine.Stream.class)).withFrom(next).withLimit(PAGE_LINES));
    List<Line> batch = new ArrayList<>();
    int chars = 0;
    for (LogLine line : page.lines()) {
      Line out = new Line(line.timeMillis(), json(line));
      batch.add(out);
      chars += out.json().length();
      if (chars >= ENOUGH_CHARS) {
        send(batch, line.id() + 1);
        batch = new ArrayList<>();
        chars = 0;
      }
    }
    if (!batch.isEmpty()) {
      send(batch, page.lines().get(page.lines().size() - 1).id() + 1);
    }
    next = Math.max(next, page.nextId());
    return page.nextId() != LogPage.END;
  }

  private void send(List<Line> batch, long nextId) throws IOException, InterruptedException {
    waitingSinceMillis = batch.get(0).timeMillis();
    receiver.send(batch);
    waitingSinceMillis = 0;
    next = nextId;
    shipped.addAndGet(batch.size());
    data.shippedLogs(nextId);
  }

  private String json(LogLine line) {
    String text = line.text();
    return JsonWriter.compact(
        Json.object()
            .put("time", Instant.ofEpochMilli(line.timeMillis()).toString())
            .put("worker", worker)
            .put("job", line.job())
            .put("node", line.node())
            .put("invocation", line.invocation())
            .put("stream", line.stream().label())
            .put("id", line.id())
            .put("text", text.endsWith("\n") ? text.substring(0, text.length() - 1) : text)
            .build());
  }

  private void succeeded() {
    pause = PERIOD;
    if (failing) {
      failing = false;
      LOG.info("the output of tasks is sent to {} again", address);
      onProblem.accept(null);
    }
  }

  private void failed(Exception e) {
    failures.incrementAndGet();
    String problem = "the output of tasks cannot be sent to " + address + ": " + e.getMessage();
    if (!failing) {
      failing = true;
      // A receiver that is away needs no stack trace; a bug of ours does.
      LOG.warn("{}; it waits on this machine", problem, e instanceof IOException ? null : e);
    }
    onProblem.accept(problem);
    Duration longer = pause.multipliedBy(2);
    pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
  }

  /** Sends what is left, as far as the receiver takes it within ten seconds. */
  @Override
  public void close() {
    closing = true;
    thread.dueIn(Duration.ZERO);
    try {
      if (!flushed.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("{} does not take the rest of the output; the next start sends it", address);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    receiver.close();
    thread.close(Duration.ofSeconds(1), true);
  }
}
