package io.espalier.thrift.rpc;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves frames (a length of four bytes, then that many bytes) over plain TCP or TLS, with one
 * thread for all connections and a few for the work. Libthrift's own non-blocking servers support
 * neither TLS nor time-outs, and allocate memory for the announced length of a frame; this server
 * allocates memory only for received bytes, and limits every wait for a peer.
 */
final class FrameServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FrameServer.class);
  private static final int BACKLOG = 1_024;
  private static final int WORKERS = 4;
  private static final long ACCEPT_PAUSE_MILLIS = 100;

  private final ServerSocketChannel listener;
  private final Selector selector;
  private final SelectionKey acceptKey;
  private final RpcLimits limits;
  private final RpcSecurity security;
  private final Function<InetSocketAddress, ConnectionHandler> exchanges;
  private final ExecutorService workers;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Set<FrameConnection> connections = new HashSet<>();
  private final LinkedHashSet<FrameConnection> strangers = new LinkedHashSet<>();

  /** Greeted connections with no open request; the most recently answered one is last. */
  private final LinkedHashSet<FrameConnection> silent = new LinkedHashSet<>();

  private final ByteBuffer input = ByteBuffer.allocateDirect(1 << 16);
  private long nextSweepNanos = Long.MAX_VALUE;
  private long acceptAgainNanos;
  private long complaints;
  private volatile boolean closing;

  private FrameServer(
      ServerSocketChannel listener,
      Selector selector,
      RpcSecurity security,
      RpcLimits limits,
      String name,
      Function<InetSocketAddress, ConnectionHandler> exchanges)
      throws IOException {
    this.listener = listener;
    this.selector = selector;
    this.security = security;
    this.limits = limits;
    this.exchanges = exchanges;
    this.acceptKey = listener.register(selector, SelectionKey.OP_ACCEPT);
    this.workers =
        Executors.newFixedThreadPool(
            WORKERS,
            work -> {
              Thread worker = new Thread(work, name + "-work");
              worker.setDaemon(true);
              return worker;
            });
    this.thread = new Thread(this::run, name + "-io");
    thread.setDaemon(true);
  }

  /**
   * Binds the address and starts serving.
   *
   * @param exchanges creates the handler of each new peer; called on the server's thread
   * @throws IOException naming the address, when it cannot be bound
   */
  static FrameServer start(
      InetSocketAddress address,
      RpcSecurity security,
      RpcLimits limits,
      String name,
      Function<InetSocketAddress, ConnectionHandler> exchanges)
      throws IOException {
    if (address.isUnresolved()) {
      throw new IOException("unknown host " + address.getHostString());
    }
    ServerSocketChannel listener = ServerSocketChannel.open();
    Selector selector = null;
    FrameServer server = null;
    try {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.configureBlocking(false);
      listener.bind(address, BACKLOG);
      selector = Selector.open();
      server = new FrameServer(listener, selector, security, limits, name, exchanges);
    } catch (BindException e) {
      throw new IOException(
          "cannot listen on "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": "
              + e.getMessage(),
          e);
    } finally {
      if (server == null) {
        listener.close();
        if (selector != null) {
          selector.close();
        }
      }
    }
    server.thread.start();
    return server;
  }

  InetSocketAddress address() {
    try {
      return (InetSocketAddress) listener.getLocalAddress();
    } catch (IOException e) {
      throw new IllegalStateException("not listening any more", e);
    }
  }

  RpcLimits limits() {
    return limits;
  }

  ExecutorService workers() {
    return workers;
  }

  /** Runs a task on the server's thread; safe from any thread. */
  void later(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  private void run() {
    try {
      while (!closing) {
        turn();
      }
    } catch (ClosedSelectorException e) {
      log.debug("the selector was closed");
    } catch (IOException e) {
      log.error("the server of {} has failed", listener, e);
    } finally {
      Set.copyOf(connections).forEach(FrameConnection::close);
    }
  }

  private void turn() throws IOException {
    long now = System.nanoTime();
    if (nextSweepNanos == Long.MAX_VALUE) {
      selector.select(this::ready);
    } else {
      long wait = TimeUnit.NANOSECONDS.toMillis(nextSweepNanos - now) + 1;
      if (wait <= 0) {
        selector.selectNow(this::ready);
      } else {
        selector.select(this::ready, wait);
      }
    }
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      try {
        task.run();
      } catch (RuntimeException e) {
        log.error("while serving a connection", e);
      }
    }
    if (nextSweepNanos != Long.MAX_VALUE && System.nanoTime() - nextSweepNanos >= 0) {
      sweep(System.nanoTime());
    }
  }

  /** Closes connections whose deadline has passed. */
  private void sweep(long now) {
    long next = Long.MAX_VALUE;
    if (acceptAgainNanos != 0) {
      if (now - acceptAgainNanos >= 0) {
        acceptAgainNanos = 0;
        acceptKey.interestOps(SelectionKey.OP_ACCEPT);
      } else {
        next = acceptAgainNanos;
      }
    }
    for (FrameConnection connection : Set.copyOf(connections)) {
      if (now - connection.deadlineNanos() >= 0) {
        complain(connection, connection.whatIsLate());
        connection.close();
      } else {
        next = earlier(next, connection.deadlineNanos());
      }
    }
    nextSweepNanos = next;
  }

  /** Schedules a sweep for the deadline of a connection. */
  void sweepAt(long nanos) {
    nextSweepNanos = earlier(nextSweepNanos, nanos);
  }

  private static long earlier(long one, long other) {
    if (one == Long.MAX_VALUE) {
      return other;
    }
    return one - other <= 0 ? one : other;
  }

  private void ready(SelectionKey key) {
    if (key == acceptKey) {
      accept();
    } else if (key.attachment() instanceof FrameConnection connection) {
      connection.ready(input);
    }
  }

  private void accept() {
    for (int i = 0; i < 64; i++) {
      SocketChannel channel = null;
      boolean taken = false;
      try {
        channel = listener.accept();
        if (channel == null) {
          return;
        }
        open(channel);
        taken = true;
      } catch (IOException e) {
        if (channel == null) {
          // Probably out of descriptors: connections wait in the kernel's queue.
          log.warn("cannot accept connections for a moment: {}", e.getMessage());
          acceptKey.interestOps(0);
          acceptAgainNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ACCEPT_PAUSE_MILLIS);
          sweepAt(acceptAgainNanos);
          return;
        }
        log.debug("a connection went away", e);
      } finally {
        if (!taken && channel != null) {
          closeQuietly(channel);
        }
      }
    }
  }

  private void open(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    InetSocketAddress peer = (InetSocketAddress) channel.getRemoteAddress();
    if (peer == null) {
      throw new IOException("gone already");
    }
    SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
    TlsFilter tls = null;
    if (security.tls() != null) {
      SSLEngine engine = security.tls().createSSLEngine();
      engine.setUseClientMode(false);
      engine.setNeedClientAuth(true);
      tls = new TlsFilter(engine);
    }
    FrameConnection connection =
        new FrameConnection(this, channel, key, peer, tls, exchanges.apply(peer));
    key.attach(connection);
    connections.add(connection);
    strangers.add(connection);
    if (strangers.size() > limits.maxStrangers()) {
      FrameConnection oldest = strangers.iterator().next();
      complain(oldest, "too many connections that do not say who they are");
      oldest.close();
    }
  }

  /**
   * A new peer has greeted. If there are too many connections, the one whose last request is the
   * oldest is closed: a peer that hoards connections loses them, one that uses them keeps its own.
   *
   * @return false when all others have open requests, so this one cannot stay
   */
  boolean greeted(FrameConnection connection) {
    strangers.remove(connection);
    if (connections.size() - strangers.size() <= limits.maxConnections()) {
      return true;
    }
    if (silent.isEmpty()) {
      return false;
    }
    FrameConnection oldest = silent.iterator().next();
    complain(oldest, "there are more than " + limits.maxConnections() + " connections");
    oldest.close();
    return true;
  }

  /** All requests of the connection have been answered. */
  void silent(FrameConnection connection) {
    silent.remove(connection);
    silent.add(connection);
  }

  /** A complete request has arrived and is being answered. */
  void busy(FrameConnection connection) {
    silent.remove(connection);
  }

  void closed(FrameConnection connection) {
    connections.remove(connection);
    strangers.remove(connection);
    silent.remove(connection);
  }

  /**
   * Logs only the 1st, 10th, 100th complaint as a warning, so that a hostile peer cannot fill the
   * log.
   */
  void complain(FrameConnection connection, String what) {
    complaints++;
    long power = 1;
    while (power < complaints) {
      power *= 10;
    }
    String who = "the connection of " + connection.peer();
    if (power == complaints || complaints % 1_000 == 0) {
      log.warn("{} is closed: {} ({} such so far)", who, what, complaints);
    } else {
      log.debug("{} is closed: {}", who, what);
    }
  }

  static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception e) {
      log.debug("while closing", e);
    }
  }

  /** Stops listening and closes all connections; pending answers are lost. */
  @Override
  public void close() {
    closing = true;
    closeQuietly(listener);
    selector.wakeup();
    try {
      thread.join(2_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeQuietly(selector);
    workers.shutdownNow();
  }
}
