package io.espalier.server.app;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.logs.LogReader;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.server.Version;
import io.espalier.server.app.loop.LoopSchedulerApi;
import io.espalier.server.app.metrics.JvmMetrics;
import io.espalier.server.app.metrics.LogMetrics;
import io.espalier.server.app.metrics.PoolMetrics;
import io.espalier.server.app.metrics.SchedulerMetrics;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.update.AsyncJobEditor;
import io.espalier.server.app.update.ConfigPlanner;
import io.espalier.server.config.JobEditor;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.StatusWriter;
import io.espalier.server.store.StoreCleaner;
import io.espalier.server.store.archive.JobExpiry;
import io.espalier.server.store.archive.StatusArchive;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.http.IdempotencyCache;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.FileAuditLog;
import io.espalier.webui.v1.ServerIdentity;
import io.espalier.webui.whatif.WhatIfRunner;
import io.espalier.worker.process.os.FileFailures;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What monitors and operators reach a scheduler process by.
 *
 * @param server null: it does not listen
 */
record WebParts(SchedulerApi api, WebSecurity security, @Nullable WebServer server) {
  private static final Logger LOG = LoggerFactory.getLogger(WebParts.class);
  private static final int QUERY_THREADS = 2;
  private static final int WAITING_PLANS = 16;
  private static final long AUDIT_FILE_BYTES = 16L << 20;
  private static final int AUDIT_FILES = 8;

  /**
   * Listens, if it is to.
   *
   * @throws IOException with a clear message when something is not available
   */
  static WebParts open(
      OpenParts opened,
      ProcessOptions options,
      StoreParts stored,
      LoopParts loop,
      JobEditor editor,
      ConfigPlanner planner,
      PrometheusMeterRegistry metrics,
      InstantSource clock)
      throws IOException {
    ThreadPoolExecutor queries =
        new ThreadPoolExecutor(
            QUERY_THREADS,
            QUERY_THREADS,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            r -> new Thread(r, "log-queries"));
    opened.add("log queries", queries::shutdownNow);
    // Of its own: a plan may take seconds, and needs memory that grows with the tree.
    ThreadPoolExecutor plans =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING_PLANS),
            r -> new Thread(r, "plans"));
    opened.add("plans", plans::shutdownNow);
    loop.events().readOlderFrom(stored.store(), queries);
    opened.add(
        "store cleaner",
        StoreCleaner.start(
            stored.store(),
            stored.epoch(),
            () -> options.store().events().retention(clock.millis()),
            expiry(options, stored, loop, clock),
            StoreCleaner.Pace.DEFAULT,
            stored.onDeath()));
    RemoteRunner remote = loop.remote();
    SchedulerApi api =
        new LoopSchedulerApi(
            loop.thread(),
            loop.loop().stats(),
            loop.view(),
            loop.events(),
            remote == null
                ? LogReader.of(
                    query -> CompletableFuture.supplyAsync(() -> loop.logs().query(query), queries))
                : opened.add("worker logs", remote.logs(loop.logs())),
            stored.store(),
            queries,
            new AsyncJobEditor(editor, planner, queries, plans),
            stored.leadership().control(stored.epoch()),
            loop.callbacks());
    WebSecurity security = options.http().access().open(audit(opened, stored.data()));
    if (options.http().address().isPresent()) {
      meter(opened, options, stored, loop, queries, metrics);
    }
    stored.leadership().beforeListening();
    if (options.http().address().isEmpty()) {
      return new WebParts(api, security, null);
    }
    HostPort at = stored.leadership().http(options.http().address().get());
    WhatIfRunner whatIfs = WhatIfProcesses.open(opened);
    WebServer server =
        opened.add("http", listening(at, options, stored, loop, api, metrics, security, whatIfs));
    URI here = server.uri();
    String host = stored.leadership().names().stream().findFirst().orElse(here.getHost());
    loop.callbacks().listensAt(here.getScheme() + "://" + host + ":" + here.getPort());
    return new WebParts(api, security, server);
  }

  private static StoreCleaner.Chore expiry(
      ProcessOptions options, StoreParts stored, LoopParts loop, InstantSource clock) {
    Duration keep = options.store().keepFinished();
    return keep.isZero() || options.frozen()
        ? StoreCleaner.Chore.NONE
        : new JobExpiry(
            stored.store(),
            stored.epoch(),
            new StatusArchive(stored.data().archive(), StatusArchive.MOST_BYTES),
            loop.thread(),
            keep,
            clock);
  }

  private static WebServer listening(
      HostPort at,
      ProcessOptions options,
      StoreParts stored,
      LoopParts loop,
      SchedulerApi api,
      PrometheusMeterRegistry metrics,
      WebSecurity security,
      WhatIfRunner whatIfs) {
    if (options.http().access().isInTheClear(at.host())) {
      LOG.warn(
          "tokens of clients travel in the clear to {}: give --tls-cert and --tls-key, or a proxy"
              + " in front of it that speaks TLS",
          at);
    }
    return WebServer.start(
        WebOptions.at(at.host(), at.port())
            .withAllowedHosts(options.http().access().names(stored.leadership().names()))
            .withSecurity(security)
            .withAnswers(new Answers(stored.store(), loop.writer()))
            .withWhatIfs(whatIfs)
            .withIdentity(
                new ServerIdentity(Version.get(), loop.runner().name(), loop.runner().shard())),
        api,
        metrics);
  }

  /** The answers to requests with a key, in the status store. */
  private record Answers(StatusStore store, StatusWriter writer) implements IdempotencyCache.Store {
    @Override
    public List<KeyedAnswer> load() {
      return store.answers();
    }

    @Override
    public CompletionStage<Void> keep(KeyedAnswer answer) {
      // The writer commits in the order of submission, also what the loop submits.
      return writer.submit(StoreTransaction.builder().answer(answer).build());
    }

    @Override
    public void forget(Set<String> keys) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      keys.forEach(batch::endAnswer);
      var unused = writer.submit(batch.build());
    }
  }

  /** Opens the audit log of this data directory; it does not depend on who leads. */
  private static AuditLog audit(OpenParts opened, DataDirectory data) throws IOException {
    return opened.add(
        "audit log",
        FileFailures.needing(
            "the audit log",
            data.root(),
            () -> FileAuditLog.open(data.root(), AUDIT_FILE_BYTES, AUDIT_FILES)));
  }

  private static void meter(
      OpenParts opened,
      ProcessOptions options,
      StoreParts stored,
      LoopParts loop,
      ThreadPoolExecutor queries,
      PrometheusMeterRegistry metrics) {
    SchedulerMetrics meters = new SchedulerMetrics(metrics);
    meters.shard(options.source().shard());
    meters.loop(loop.thread(), loop.loop().stats());
    meters.store(loop.writer());
    meters.leadership(
        stored.leadership().control(stored.epoch()), stored.leadership().group().orElse(""));
    meters.gauge(
        "espalier.queries.queue",
        "Questions that wait for the store or the logs",
        queries,
        pool -> pool.getQueue().size());
    LogMetrics.register(loop.logs(), metrics);
    RemoteRunner remote = loop.remote();
    if (remote != null) {
      PoolMetrics.register(remote, metrics);
    }
    opened.add("process metrics", new JvmMetrics(metrics));
  }
}
