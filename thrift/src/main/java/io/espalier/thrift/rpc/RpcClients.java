package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.wire.BadMessageException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TBase;
import org.jspecify.annotations.Nullable;

/**
 * A pool of connections to peers, kept open between calls. Thread-safe; calls block their thread,
 * each within its time-outs. A connection that failed once is not reused, and one that was idle for
 * long is closed before its server closes it: the fate of a request into a dead connection would be
 * unknown.
 */
final class RpcClients implements AutoCloseable {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int IDLE_PER_PEER = 4;

  private final PeerOptions options;
  private final PeerRole callee;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<InetSocketAddress, Deque<Idle>> idle = new HashMap<>();
  private boolean closed;

  private record Idle(RpcConnection connection, long sinceNanos) {}

  /**
   * @param callee role of all peers
   */
  RpcClients(PeerRole callee, PeerOptions options) {
    this.callee = callee;
    this.options = options;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, "rpc-timeouts");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
  }

  /** Throws for a refusal, which is an answer: the peer took no action. */
  static void check(InetSocketAddress peer, @Nullable Refused refused) throws RpcException {
    if (refused != null) {
      throw new RpcException(
          RpcException.Kind.REFUSED,
          peer.getHostString() + ":" + peer.getPort() + " refuses it: " + refused.getMessage());
    }
  }

  /**
   * Returns the exception for an answer that cannot be understood, although the peer acted on the
   * request.
   */
  static RpcException bad(InetSocketAddress peer, BadMessageException e) {
    return new RpcException(
        RpcException.Kind.UNKNOWN,
        "bad answer of " + peer.getHostString() + ":" + peer.getPort() + ": " + e.getMessage(),
        e);
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
    RpcConnection connection = take(peer, deadline);
    boolean done = false;
    try {
      connection.call(name, arguments, result, bounds.until(deadline));
      done = true;
    } finally {
      if (done) {
        giveBack(peer, connection);
      } else {
        connection.close();
        // Other open connections to that peer are probably dead, too.
        forget(peer);
      }
    }
  }

  private RpcConnection take(InetSocketAddress peer, long deadlineNanos) throws RpcException {
    synchronized (idle) {
      if (closed) {
        throw new RpcException(RpcException.Kind.NOT_SENT, "shutting down");
      }
      closeOld(System.nanoTime());
      Deque<Idle> open = idle.get(peer);
      if (open != null && !open.isEmpty()) {
        return open.pop().connection();
      }
    }
    return RpcConnection.open(
        peer, callee, options, options.timeouts().until(deadlineNanos), timer);
  }

  private void giveBack(InetSocketAddress peer, RpcConnection connection) {
    synchronized (idle) {
      Deque<Idle> open = idle.computeIfAbsent(peer, p -> new ArrayDeque<>());
      if (!closed && open.size() < IDLE_PER_PEER) {
        open.push(new Idle(connection, System.nanoTime()));
        return;
      }
    }
    connection.close();
  }

  private void closeOld(long now) {
    for (Iterator<Deque<Idle>> peers = idle.values().iterator(); peers.hasNext(); ) {
      Deque<Idle> open = peers.next();
      while (!open.isEmpty() && now - open.getLast().sinceNanos() > IDLE_NANOS) {
        open.removeLast().connection().close();
      }
      if (open.isEmpty()) {
        peers.remove();
      }
    }
  }

  /** Closes the connections to a peer, because it went away or came back. */
  void forget(InetSocketAddress peer) {
    Deque<Idle> open;
    synchronized (idle) {
      open = idle.remove(peer);
    }
    if (open != null) {
      open.forEach(each -> each.connection().close());
    }
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      idle.values().forEach(open -> open.forEach(each -> each.connection().close()));
      idle.clear();
    }
    timer.shutdownNow();
  }
}
