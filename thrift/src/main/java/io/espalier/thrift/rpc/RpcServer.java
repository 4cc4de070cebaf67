package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogQueryException;
import io.espalier.core.problem.Causes;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.gen.RefusalCode;
import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.gen.SchedulerService;
import io.espalier.thrift.gen.WorkerService;
import io.espalier.thrift.wire.BadMessageException;
import io.espalier.thrift.wire.WireLogs;
import io.espalier.thrift.wire.WireReports;
import io.espalier.thrift.wire.WireWorks;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A server that accepts the calls of the other side. */
public final class RpcServer implements AutoCloseable {
  private static final int BACKLOG = 1_024;
  private static final int THREADS = 4;
  private static final long CLOSE_MILLIS = 2_000;

  private final EventLoopGroup threads;
  private final Channel listener;
  private final ChannelGroup connections;

  private RpcServer(EventLoopGroup threads, Channel listener, ChannelGroup connections) {
    this.threads = threads;
    this.listener = listener;
    this.connections = connections;
  }

  /**
   * Starts the scheduler's server, which workers call.
   *
   * @throws IOException naming the address, when it cannot be bound
   */
  public static RpcServer scheduler(
      InetSocketAddress address, PeerOptions options, JsonDecoder json, CallTable.OfScheduler calls)
      throws IOException {
    WireReports wire = new WireReports(json);
    ProtocolHandlers methods =
        new ProtocolHandlers()
            .add(
                "heartbeat",
                SchedulerService.heartbeat_args::new,
                (given, from) ->
                    read(
                        () ->
                            calls.heartbeat(
                                WireReports.heartbeat(given.getHeartbeat()),
                                new WorkerLink(from, options))),
                answer ->
                    new SchedulerService.heartbeat_result().setSuccess(WireReports.of(answer)),
                refused -> new SchedulerService.heartbeat_result().setRefused(refused))
            .add(
                "report",
                SchedulerService.report_args::new,
                (given, from) -> read(() -> calls.report(wire.report(given.getReport()))),
                answer -> new SchedulerService.report_result().setSuccess(WireReports.of(answer)),
                refused -> new SchedulerService.report_result().setRefused(refused));
    return start(PeerRole.SCHEDULER, address, options, methods);
  }

  /**
   * Starts the worker's server, which a scheduler of the release before calls.
   *
   * @throws IOException naming the address, when it cannot be bound
   */
  public static RpcServer worker(
      InetSocketAddress address, PeerOptions options, JsonDecoder json, CallTable.OfWorker calls)
      throws IOException {
    return start(PeerRole.WORKER, address, options, workerMethods(json, calls));
  }

  /** Returns the calls that a worker answers. */
  static ProtocolHandlers workerMethods(JsonDecoder json, CallTable.OfWorker calls) {
    WireWorks wire = new WireWorks(json);
    return new ProtocolHandlers()
        .add(
            "work",
            WorkerService.work_args::new,
            (given, from) -> read(() -> calls.work(wire.work(given.getWork()))),
            answer -> new WorkerService.work_result().setSuccess(WireWorks.of(answer)),
            refused -> new WorkerService.work_result().setRefused(refused))
        .add(
            "logs",
            WorkerService.logs_args::new,
            (given, from) ->
                read(() -> calls.logs(WireLogs.query(given.getQuery())))
                    .exceptionallyCompose(RpcServer::refused),
            page -> new WorkerService.logs_result().setSuccess(WireLogs.of(page)),
            refused -> new WorkerService.logs_result().setRefused(refused));
  }

  /** Serves calls in a role. */
  static RpcServer start(
      PeerRole role, InetSocketAddress address, PeerOptions options, ProtocolHandlers methods)
      throws IOException {
    if (address.isUnresolved()) {
      throw new IOException("unknown host " + address.getHostString());
    }
    EventLoopGroup threads = RpcChannels.threads("rpc-" + role.word(), THREADS);
    ChannelGroup connections = new DefaultChannelGroup(threads.next(), true);
    ConnectionCrowd crowd = new ConnectionCrowd(options.limits());
    ChannelFuture bound =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    connections.add(channel);
                    RpcChannels.build(
                        channel,
                        options.security().handler(channel, false),
                        options.limits(),
                        new RpcConnection(
                            channel,
                            String.valueOf(channel.remoteAddress()),
                            role,
                            options,
                            methods,
                            crowd));
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      RpcChannels.end(threads);
      throw new IOException(
          "cannot listen on "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": "
              + complaint(String.valueOf(bound.cause().getMessage())),
          bound.cause());
    }
    return new RpcServer(threads, bound.channel(), connections);
  }

  private static String complaint(String said) {
    return said.contains("already in use")
        ? "the port is in use; choose another with --thrift HOST:PORT"
        : said;
  }

  private static <T> CompletionStage<T> read(Supplier<CompletionStage<T>> call) {
    try {
      return call.get();
    } catch (BadMessageException e) {
      return CompletableFuture.failedFuture(
          new Refused(RefusalCode.BAD_MESSAGE, String.valueOf(e.getMessage())));
    }
  }

  /**
   * Maps a failure to an answer: a caller whose request cannot be answered receives the reason;
   * everything else is our own failure.
   */
  private static <T> CompletionStage<T> refused(Throwable failure) {
    Throwable cause = Causes.of(failure);
    return CompletableFuture.failedFuture(
        cause instanceof LogQueryException
            ? new Refused(RefusalCode.BAD_MESSAGE, String.valueOf(cause.getMessage()))
            : failure);
  }

  /** Returns the address on which the server listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Stops listening and closes all connections; pending answers are lost. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(CLOSE_MILLIS);
    connections.close().awaitUninterruptibly(CLOSE_MILLIS);
    RpcChannels.end(threads);
  }
}
