package io.espalier.webui.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits the cost of connections without requests: their number, their number per address, and the
 * time without a complete request. An idle time alone would not suffice, because a client that
 * sends a byte of a request now and then is never idle. When the limit is reached, a new connection
 * replaces the one that has waited longest for a request; connections being answered stay.
 */
public final class ConnectionLimiter {
  /** A client that reads an answer more slowly than this counts as not reading it. */
  private static final int LEAST_BYTES_PER_MILLI = 16;

  private final WebSecurity.Connecting limits;
  private final Duration idle;
  private final AddressCounts open = new AddressCounts();

  /**
   * @param idle how long a connection may wait for its next request
   */
  public ConnectionLimiter(WebSecurity.Connecting limits, Duration idle) {
    this.limits = limits;
    this.idle = idle;
  }

  private boolean isFull() {
    return open.all() >= limits.atATime();
  }

  private boolean isFull(String address) {
    return open.of(address) >= limits.perAddress();
  }

  /** Creates the connections of one event loop, which alone may use them. */
  public Loop on(Vertx vertx) {
    return new Loop(vertx);
  }

  /** The state of a connection. */
  private static final class State {
    private final String address;
    private long sinceNanos = System.nanoTime();
    private long allowedMillis;
    private @Nullable HttpServerResponse busyWith;

    State(String address, long allowedMillis) {
      this.address = address;
      this.allowedMillis = allowedMillis;
    }

    boolean isOver(long now) {
      return busyWith == null && now - sinceNanos > allowedMillis * 1_000_000;
    }

    /** Starts to wait for the next request once the answer has ended. */
    void settle(long now, Duration idle) {
      HttpServerResponse answer = busyWith;
      if (answer != null && answer.ended()) {
        busyWith = null;
        sinceNanos = now;
        allowedMillis = idle.toMillis() + answer.bytesWritten() / LEAST_BYTES_PER_MILLI;
      }
    }
  }

  /** The connections of one event loop. */
  public final class Loop {
    private final IdentityHashMap<HttpConnection, State> states = new IdentityHashMap<>();

    private Loop(Vertx vertx) {
      long look = Math.max(50, Math.min(1_000, limits.requestWithin().toMillis() / 4));
      vertx.setPeriodic(look, timer -> look());
    }

    public void opened(HttpConnection connection) {
      SocketAddress from = connection.remoteAddress();
      String host = from == null ? null : from.hostAddress();
      String address = AuthHandler.network(host == null ? "" : host);
      // An address that has reached its own limit replaces one of its own connections.
      if (isFull(address) ? !makeRoom(address) : isFull() && !makeRoom("")) {
        connection.close();
        return;
      }
      open.enter(address);
      states.put(connection, new State(address, limits.requestWithin().toMillis()));
      connection.closeHandler(closed -> forget(connection));
    }

    /**
     * Closes the connection of this loop that has waited longest.
     *
     * @param address of the client; empty: any client
     * @return false when all of them are being answered
     */
    private boolean makeRoom(String address) {
      long now = System.nanoTime();
      HttpConnection longest = null;
      long longestNanos = -1;
      for (Map.Entry<HttpConnection, State> entry : states.entrySet()) {
        State state = entry.getValue();
        state.settle(now, idle);
        long waits = now - state.sinceNanos;
        if (state.busyWith == null
            && waits > longestNanos
            && (address.isEmpty() || address.equals(state.address))) {
          longest = entry.getKey();
          longestNanos = waits;
        }
      }
      if (longest == null) {
        return false;
      }
      forget(longest);
      longest.close();
      return true;
    }

    private void forget(HttpConnection connection) {
      State state = states.remove(connection);
      if (state != null) {
        open.leave(state.address);
      }
    }

    public void asked(HttpServerRequest request) {
      State state = states.get(request.connection());
      if (state != null) {
        state.busyWith = request.response();
      }
    }

    private void look() {
      long now = System.nanoTime();
      List<HttpConnection> over = new ArrayList<>();
      states.forEach(
          (connection, state) -> {
            state.settle(now, idle);
            if (state.isOver(now)) {
              over.add(connection);
            }
          });
      over.forEach(HttpConnection::close);
    }
  }
}
