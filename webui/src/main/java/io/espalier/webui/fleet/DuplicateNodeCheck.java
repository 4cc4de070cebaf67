package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.action.Fanout;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Periodically compares the nodes of all schedulers to find nodes that two of them have, and both
 * work on. It reads the first pages of each, within a total limit; the report contains the number
 * of schedulers that were not read completely. It ignores roots, which are the schedulers
 * themselves.
 */
final class DuplicateNodeCheck implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DuplicateNodeCheck.class);
  private static final int PAGE = 1_000;
  private static final int MOST_EACH = 20_000;
  private static final int AT_A_TIME = 16;
  private static final long FIRST_WITHIN_MILLIS = 10_000;

  private final FleetOptions options;
  private final FleetClient client;
  private final Supplier<FleetView> view;
  private final InstantSource clock;
  private final ScheduledExecutorService thread;
  private final long begunMillis;
  private volatile Duplicates.Report report = Duplicates.Report.NONE;

  DuplicateNodeCheck(
      FleetOptions options, FleetClient client, Supplier<FleetView> view, InstantSource clock) {
    this.options = options;
    this.client = client;
    this.view = view;
    this.clock = clock;
    this.begunMillis = clock.millis();
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread made = new Thread(work, "espalier-fleet-nodes");
              made.setDaemon(true);
              return made;
            });
    ScheduledFuture<?> forEver =
        thread.scheduleWithFixedDelay(this::perhaps, 200, 500, TimeUnit.MILLISECONDS);
    LOG.trace("{}", forEver);
  }

  Duplicates.Report report() {
    return report;
  }

  private void perhaps() {
    try {
      long now = clock.millis();
      FleetView known = view.get();
      boolean due =
          report.atMillis() == 0
              ? !known.known().isEmpty()
                  && (known.count(FleetSchedulerState.WAITING) == 0
                      || now - begunMillis > FIRST_WITHIN_MILLIS)
              : now - report.atMillis() >= options.nodesEvery().toMillis();
      if (due) {
        report = check(known);
      }
    } catch (RuntimeException | Error e) {
      // The executor would end the checks for good, and say nothing.
      LOG.warn("comparing nodes failed", e);
    }
  }

  /** Runs a check and waits for all schedulers; on a separate thread. */
  private Duplicates.Report check(FleetView known) {
    List<FleetSchedulerView> hosts =
        known.known().stream()
            .filter(host -> host.state() == FleetSchedulerState.ANSWERED)
            .toList();
    int each = Math.max(PAGE, Math.min(MOST_EACH, options.nodeNames() / Math.max(1, hosts.size())));
    Duplicates duplicates = new Duplicates();
    CompletableFuture<Void> all =
        Fanout.each(
            hosts,
            AT_A_TIME,
            client.readers(),
            host ->
                read(host.address(), "", new ArrayList<>(), each)
                    .thenAccept(
                        nodes -> {
                          synchronized (duplicates) {
                            duplicates.next(host.id(), nodes.cut());
                            nodes.names().forEach(n -> duplicates.has(n.group(), n.name()));
                          }
                        }));
    all.join();
    synchronized (duplicates) {
      return duplicates.report(clock.millis());
    }
  }

  private record Nodes(List<Duplicates.Found> names, boolean cut) {}

  private CompletableFuture<Nodes> read(
      SchedulerAddress from, String after, List<Duplicates.Found> names, int most) {
    String path =
        "/api/v1/nodes?limit="
            + PAGE
            + (after.isEmpty() ? "" : "&after=" + URLEncoder.encode(after, StandardCharsets.UTF_8));
    return client
        .get(from, path, options.receive())
        .thenCompose(
            json -> {
              if (!(json instanceof Json.Obj page)
                  || !(page.get("nodes") instanceof Json.Arr nodes)) {
                throw new SchedulerUnreachableException(
                    FleetSchedulerState.ERROR, true, "this is no list of nodes");
              }
              for (Json node : nodes.items()) {
                if (node instanceof Json.Obj o
                    && o.get("name") instanceof Json.Str name
                    && o.get("level") instanceof Json.Str level
                    && o.get("parents") instanceof Json.Arr parents
                    && !parents.items().isEmpty()) {
                  names.add(new Duplicates.Found(level.value(), name.value()));
                }
              }
              String next = page.get("next") instanceof Json.Str s ? s.value() : "";
              boolean end = next.isEmpty() || nodes.items().isEmpty();
              return end || names.size() >= most
                  ? CompletableFuture.completedFuture(new Nodes(names, !end))
                  : read(from, next, names, most);
            });
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
