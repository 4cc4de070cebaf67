package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.rpc.RpcException.Kind;
import io.espalier.thrift.wire.BadMessageException;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TBase;
import org.jspecify.annotations.Nullable;

/**
 * Connections to peers, one to each, opened by the first call and kept. Thread-safe; calls block
 * their thread, each within its time-outs. A connection on which a call failed is not used again,
 * and one that was idle for long is closed before its server closes it: the fate of a request into
 * a dead connection would be unknown.
 */
final class RpcClients implements AutoCloseable {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int THREADS = 2;

  private final PeerOptions options;
  private final PeerRole callee;
  private final ProtocolHandlers methods;
  private final Runnable lost;
  private final EventLoopGroup threads;
  private final Map<InetSocketAddress, CompletableFuture<RpcConnection>> connections =
      new HashMap<>();
  private boolean closed;

  /** Creates connections on which the peers call nothing. */
  RpcClients(PeerRole callee, PeerOptions options) {
    this(callee, options, new ProtocolHandlers(), () -> {});
  }

  /**
   * @param callee role of all peers
   * @param methods calls that the peers may make
   * @param lost called when a connection has ended; on a thread of the connection
   */
  RpcClients(PeerRole callee, PeerOptions options, ProtocolHandlers methods, Runnable lost) {
    this.callee = callee;
    this.options = options;
    this.methods = methods;
    this.lost = lost;
    this.threads = RpcChannels.threads("rpc-to-" + callee.word(), THREADS);
  }

  /** Throws for a refusal, which is an answer: the peer took no action. */
  static void check(String peer, @Nullable Refused refused) throws RpcException {
    if (refused != null) {
      throw new RpcException(Kind.REFUSED, peer + " refuses it: " + refused.getMessage());
    }
  }

  /**
   * Returns the exception for an answer that cannot be understood, although the peer acted on the
   * request.
   */
  static RpcException bad(String peer, BadMessageException e) {
    return new RpcException(Kind.UNKNOWN, "bad answer of " + peer + ": " + e.getMessage(), e);
  }

  static String name(InetSocketAddress peer) {
    return peer.getHostString() + ":" + peer.getPort();
  }

  PeerOptions options() {
    return options;
  }

  /** Calls the peer and fills {@code result}. */
  void call(
      InetSocketAddress peer,
      String name,
      TBase<?, ?> arguments,
      TBase<?, ?> result,
      RpcTimeouts bounds)
      throws RpcException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(bounds.totalMillis());
    RpcConnection connection = take(peer, options.timeouts().until(deadline));
    boolean done = false;
    try {
      Void unused = await(connection.call(name, () -> arguments, result, bounds.until(deadline)));
      done = true;
    } finally {
      if (!done) {
        forget(peer, connection);
      }
    }
  }

  private RpcConnection take(InetSocketAddress peer, RpcTimeouts bounds) throws RpcException {
    CompletableFuture<RpcConnection> connection;
    boolean mine = false;
    synchronized (connections) {
      if (closed) {
        throw new RpcException(Kind.NOT_SENT, "shutting down");
      }
      connections.values().removeIf(RpcClients::isOver);
      connection = connections.get(peer);
      if (connection == null) {
        mine = true;
        connection = new CompletableFuture<>();
        connections.put(peer, connection);
      }
    }
    if (mine) {
      try {
        connection.complete(open(peer, bounds));
      } catch (RpcException | RuntimeException | Error e) {
        connection.completeExceptionally(e);
        if (e instanceof Error error) {
          throw error;
        }
      }
    }
    return await(connection);
  }

  private static boolean isOver(CompletableFuture<RpcConnection> each) {
    if (!each.isDone()) {
      return false;
    }
    if (each.isCompletedExceptionally()) {
      return true;
    }
    RpcConnection connection = each.join();
    if (connection.idleNanos() > IDLE_NANOS) {
      connection.close();
      return true;
    }
    return !connection.isOpen();
  }

  private static <T> T await(CompletableFuture<T> answer) throws RpcException {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RpcException(Kind.UNKNOWN, "interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RpcException failure) {
        throw new RpcException(failure.kind(), String.valueOf(failure.getMessage()), failure);
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /**
   * Connects and greets.
   *
   * @throws RpcException of kind NOT_SENT or REFUSED, naming the address
   */
  private RpcConnection open(InetSocketAddress to, RpcTimeouts bounds) throws RpcException {
    String address = name(to);
    if (to.isUnresolved()) {
      throw new RpcException(Kind.NOT_SENT, "unknown host " + to.getHostString());
    }
    CompletableFuture<RpcConnection> made = new CompletableFuture<>();
    ChannelFuture connecting =
        new Bootstrap()
            .group(threads)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, bounds.connectMillis())
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    SslHandler tls = options.security().handler(channel, true);
                    if (tls != null) {
                      tls.setHandshakeTimeoutMillis(bounds.receiveMillis());
                    }
                    RpcConnection connection =
                        new RpcConnection(channel, address, callee.other(), options, methods, null);
                    RpcChannels.build(channel, tls, options.limits(), connection);
                    made.complete(connection);
                  }
                })
            .connect(to);
    Channel channel = connecting.channel();
    boolean open = false;
    try {
      if (!connecting.await().isSuccess()) {
        throw new RpcException(
            Kind.NOT_SENT, "cannot reach " + address + ": " + why(connecting.cause()));
      }
      SslHandler tls = channel.pipeline().get(SslHandler.class);
      if (tls != null && !tls.handshakeFuture().await().isSuccess()) {
        Throwable cause = tls.handshakeFuture().cause();
        throw new RpcException(
            Kind.NOT_SENT,
            "no TLS connection to "
                + address
                + ", which must speak TLS too and have a certificate of the same authority: "
                + Objects.requireNonNullElse(
                    cause.getMessage(), "the other end has closed the connection"),
            cause);
      }
      RpcConnection connection = await(made.join().greet(callee, bounds));
      open = true;
      var unused = channel.closeFuture().addListener(end -> lost.run());
      return connection;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RpcException(Kind.NOT_SENT, "interrupted while connecting to " + address, e);
    } finally {
      if (!open) {
        var unused = channel.close();
      }
    }
  }

  /** Netty adds the address to what the kernel says; our message has it already. */
  private static String why(Throwable cause) {
    Throwable own = cause.getCause();
    return cause instanceof ConnectTimeoutException || own == null
        ? String.valueOf(cause.getMessage())
        : String.valueOf(own.getMessage());
  }

  private void forget(InetSocketAddress peer, RpcConnection connection) {
    synchronized (connections) {
      CompletableFuture<RpcConnection> current = connections.get(peer);
      if (current != null && current.getNow(null) == connection) {
        connections.remove(peer);
      }
    }
    connection.close();
  }

  @Override
  public void close() {
    synchronized (connections) {
      closed = true;
      for (CompletableFuture<RpcConnection> each : connections.values()) {
        var unused = each.thenAccept(RpcConnection::close);
      }
      connections.clear();
    }
    RpcChannels.end(threads);
  }
}
