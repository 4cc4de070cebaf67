package io.espalier.webui;

import io.espalier.core.api.SchedulerApi;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.fleet.Fleet;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuditHandler;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.BadRequestHandler;
import io.espalier.webui.http.ConnectionLimiter;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.OpenApiValidator;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.page.StaticPage;
import io.espalier.webui.stream.EventStreams;
import io.espalier.webui.stream.LogStreams;
import io.espalier.webui.tls.TlsSetup;
import io.espalier.webui.tls.TlsSource;
import io.espalier.webui.v1.ApiV1;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server of a scheduler: Bistro's batched queries, {@code /api/v1}, events, health,
 * metrics and the page; also that of a standby, of {@code ui} and of a worker. Event loops only
 * read published views; anything that takes time or waits for the scheduler runs on a separate
 * small pool. All its threads are daemons.
 */
public final class WebServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WebServer.class);
  private static final int EVENT_LOOPS = 2;
  private static final int POOL = 2;
  private static final int LOOK_MILLIS = 1_000;
  private static final int HEADER_BYTES = 16 * 1024;
  private static final int REQUEST_LINE_BYTES = 8 * 1024;

  private final Vertx vertx;
  private final ExecutorService pool;
  private final URI uri;

  private WebServer(Vertx vertx, ExecutorService pool, URI uri) {
    this.vertx = vertx;
    this.pool = pool;
    this.uri = uri;
  }

  /**
   * Starts to listen.
   *
   * @param metrics scraped by {@code /metrics}; gets meters of this server and of the views
   * @throws WebStartException when the address cannot be bound, with the reason in one line
   */
  public static WebServer start(
      WebOptions options, SchedulerApi api, PrometheusMeterRegistry metrics) {
    InetAddress address = address(options);
    ExecutorService pool = pool();
    OpenApiValidator contract =
        new OpenApiValidator(
            () -> new StaticPage(SchedulerRouter.CONTRACT, "application/yaml").text(), pool);
    SchedulerRouter routes = routes(options, address, api, metrics, pool, contract);
    return listen(options, address, pool, routes::handler);
  }

  /**
   * Starts to listen for a scheduler that does not lead.
   *
   * @param state supplies what is known about the leader; called for each request, must not block
   * @throws WebStartException when the address cannot be bound, with the reason in one line
   */
  public static WebServer standby(WebOptions options, Supplier<StandbyState> state) {
    InetAddress address = address(options);
    StandbyRouter routes =
        new StandbyRouter(
            new HostOriginHandler(ownHosts(options, address)),
            access(options),
            state,
            options.security().tls(),
            () -> options.clock().millis());
    return listen(options, address, pool(), routes::handler);
  }

  /**
   * Starts to listen for people who watch many schedulers.
   *
   * @param fleet closed by the caller, after this
   * @throws WebStartException when the address cannot be bound, with the reason in one line
   */
  public static WebServer fleet(WebOptions options, Fleet fleet) {
    InetAddress address = address(options);
    ExecutorService pool = pool();
    WebOptions.Limits limits = options.limits();
    FleetRouter routes =
        new FleetRouter(
            options,
            fleet,
            new HostOriginHandler(ownHosts(options, address)),
            new AsyncResponder(pool, limits.requests(), limits.answerWithin()));
    return listen(options, address, pool, routes::handler);
  }

  /**
   * Starts to listen for monitors of a worker.
   *
   * @param problem supplies why the worker gets no tasks, empty if it does; called for each
   *     request, must not block
   * @throws WebStartException when the address cannot be bound, with the reason in one line
   */
  public static WebServer worker(
      WebOptions options, Supplier<String> problem, PrometheusMeterRegistry metrics) {
    InetAddress address = address(options);
    WorkerRouter routes =
        new WorkerRouter(
            new HostOriginHandler(ownHosts(options, address)), access(options), problem, metrics);
    return listen(options, address, pool(), routes::handler);
  }

  private static AuthHandler access(WebOptions options) {
    return new AuthHandler(
        options.security(), new AuditHandler(options.security().audit(), options.clock()));
  }

  private static WebServer listen(
      WebOptions options,
      InetAddress address,
      ExecutorService pool,
      Function<Vertx, Handler<HttpServerRequest>> serving) {
    Vertx vertx = vertx();
    try {
      AtomicInteger port = new AtomicInteger();
      ConnectionLimiter connections =
          new ConnectionLimiter(options.security().connecting(), options.limits().idle());
      List<Listener> listeners = new CopyOnWriteArrayList<>();
      vertx
          .deployVerticle(
              () -> {
                Listener listener = new Listener(serving, address, options, connections, port);
                listeners.add(listener);
                return listener;
              },
              new DeploymentOptions().setInstances(EVENT_LOOPS))
          .toCompletionStage()
          .toCompletableFuture()
          .get(30, TimeUnit.SECONDS);
      follow(options.security(), vertx, pool, listeners);
      return new WebServer(
          vertx, pool, uri(options.security().tls().isPresent(), address, port.get()));
    } catch (ExecutionException | TimeoutException e) {
      stop(vertx, pool);
      Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
      throw new WebStartException(complaint(options, cause), cause);
    } catch (InterruptedException e) {
      stop(vertx, pool);
      Thread.currentThread().interrupt();
      throw new WebStartException("interrupted while starting to listen", e);
    }
  }

  /** Rereads changed files on the pool, never on an event loop. */
  private static void follow(
      WebSecurity security, Vertx vertx, ExecutorService pool, List<Listener> listeners) {
    if (!security.credentials().required() && security.tls().isEmpty()) {
      return;
    }
    Runnable onNewTls = () -> listeners.forEach(Listener::renewTls);
    vertx.setPeriodic(
        LOOK_MILLIS,
        timer -> {
          try {
            pool.execute(() -> security.poll(onNewTls));
          } catch (RejectedExecutionException e) {
            LOG.debug("closing", e);
          }
        });
  }

  /** Returns the address with the actual port; a wildcard address is shown as loopback. */
  public URI uri() {
    return uri;
  }

  /** Returns the actual port. */
  public int port() {
    return uri.getPort();
  }

  /** Stops listening and closes all connections, within a few seconds. */
  @Override
  public void close() {
    stop(vertx, pool);
  }

  private static void stop(Vertx vertx, ExecutorService pool) {
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("the web server did not stop cleanly", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      pool.shutdownNow();
    }
  }

  private static SchedulerRouter routes(
      WebOptions options,
      InetAddress address,
      SchedulerApi scheduler,
      PrometheusMeterRegistry metrics,
      ExecutorService pool,
      OpenApiValidator contract) {
    SchedulerApi api = new PooledSchedulerApi(scheduler, pool);
    WebOptions.Limits limits = options.limits();
    Duration third = limits.idle().dividedBy(3);
    Duration heartbeat =
        third.compareTo(Duration.ofSeconds(15)) < 0 ? third : Duration.ofSeconds(15);
    AsyncResponder answers = new AsyncResponder(pool, limits.requests(), limits.answerWithin());
    Gauge.builder("espalier.http.active", answers, AsyncResponder::active)
        .description("questions being answered; more than 256 at a time get 429")
        .register(metrics);
    if (pool instanceof ThreadPoolExecutor threads) {
      Gauge.builder("espalier.http.pool.queue", threads, t -> t.getQueue().size())
          .description("answers that wait for a thread")
          .register(metrics);
    }
    return new SchedulerRouter(
        options,
        api,
        new ApiV1(api, options.identity(), options.security().audit()),
        new BistroBatches(api, options.clock(), limits.answerWithin(), pool),
        answers,
        new HttpMetrics(metrics, api, options.clock()),
        new HostOriginHandler(ownHosts(options, address)),
        new EventStreams(api, limits.streams(), heartbeat, metrics),
        new LogStreams(api, limits.streams(), heartbeat, metrics),
        contract);
  }

  private static ExecutorService pool() {
    AtomicInteger number = new AtomicInteger();
    return Executors.newFixedThreadPool(
        POOL,
        work -> {
          Thread thread = new Thread(work, "espalier-web-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
  }

  private static Vertx vertx() {
    return Vertx.vertx(
        new VertxOptions()
            .setEventLoopPoolSize(EVENT_LOOPS)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true)
            // Everything served is in memory, so no cache directory is needed.
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false)));
  }

  private static InetAddress address(WebOptions options) {
    try {
      return InetAddress.getByName(bare(options.host()));
    } catch (UnknownHostException e) {
      throw new WebStartException(complaint(options, e), e);
    }
  }

  /** Returns the host names of this server: the bound one and the allowed ones. */
  private static Set<String> ownHosts(WebOptions options, InetAddress address) {
    Set<String> hosts = new HashSet<>(options.allowedHosts());
    hosts.add(bare(options.host()));
    hosts.add(address.getHostAddress());
    if (address.isAnyLocalAddress()) {
      try {
        hosts.add(InetAddress.getLocalHost().getHostName());
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .forEach(own -> hosts.add(withoutZone(own.getHostAddress())));
      } catch (SocketException | UnknownHostException e) {
        LOG.warn("cannot list this machine's addresses: {}", e.toString());
      }
    }
    return hosts;
  }

  private static String withoutZone(String address) {
    int percent = address.indexOf('%');
    return percent < 0 ? address : address.substring(0, percent);
  }

  private static String bare(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  private static URI uri(boolean tls, InetAddress address, int port) {
    String host = address.isAnyLocalAddress() ? "127.0.0.1" : withoutZone(address.getHostAddress());
    return URI.create(
        (tls ? "https://" : "http://")
            + (host.contains(":") ? "[" + host + "]" : host)
            + ":"
            + port);
  }

  private static String complaint(WebOptions options, Throwable cause) {
    String where = "cannot listen on " + options.host() + ":" + options.port() + ": ";
    String said = String.valueOf(cause.getMessage());
    if (cause instanceof UnknownHostException) {
      return where + "there is no such host";
    }
    if (cause instanceof BindException || cause instanceof IOException) {
      if (said.contains("already in use")) {
        return where + "the port is in use; choose another with --http HOST:PORT";
      }
      if (said.contains("ermission denied")) {
        return where + "the port needs privileges; choose one above 1023 with --http HOST:PORT";
      }
      if (said.contains("assign requested address")) {
        return where + "this machine does not have that address";
      }
    }
    return where + said.lines().findFirst().orElse(cause.toString());
  }

  /** Accepts the connections of one event loop. */
  private static final class Listener extends VerticleBase {
    private final Function<Vertx, Handler<HttpServerRequest>> serving;
    private final InetAddress address;
    private final WebOptions options;
    private final ConnectionLimiter connections;
    private final AtomicInteger port;
    private volatile @Nullable HttpServer server;

    Listener(
        Function<Vertx, Handler<HttpServerRequest>> serving,
        InetAddress address,
        WebOptions options,
        ConnectionLimiter connections,
        AtomicInteger port) {
      this.serving = serving;
      this.address = address;
      this.options = options;
      this.connections = connections;
      this.port = port;
    }

    /** Replaces the certificates; open connections keep theirs. */
    void renewTls() {
      HttpServer open = server;
      TlsSource source = options.security().tls().orElse(null);
      if (open != null && source != null) {
        open.updateSSLOptions(TlsSetup.server(source.current()), true)
            .onFailure(failure -> LOG.error("the new certificate is not in force", failure));
      }
    }

    @Override
    public Future<?> start() {
      HttpServerOptions http =
          new HttpServerOptions()
              .setHost(withoutZone(address.getHostAddress()))
              // A negative port means any free port, but the same for all loops.
              .setPort(options.port() == 0 ? -1 : options.port())
              .setMaxHeaderSize(HEADER_BYTES)
              .setMaxInitialLineLength(REQUEST_LINE_BYTES)
              .setIdleTimeout((int) options.limits().idle().toMillis())
              .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
              // The body is requested only once the declared length is known to be acceptable.
              .setHandle100ContinueAutomatically(false)
              .setHttp2ClearTextEnabled(false);
      options.security().tls().ifPresent(tls -> TlsSetup.server(http, tls.current()));
      HttpServer created = vertx.createHttpServer(http);
      server = created;
      ConnectionLimiter.Loop loop = connections.on(vertx);
      Handler<HttpServerRequest> handler = serving.apply(vertx);
      return created
          .connectionHandler(loop::opened)
          .invalidRequestHandler(new BadRequestHandler(REQUEST_LINE_BYTES, HEADER_BYTES))
          .requestHandler(
              request -> {
                loop.asked(request);
                handler.handle(request);
              })
          .listen()
          .onSuccess((HttpServer open) -> port.set(open.actualPort()));
    }
  }
}
