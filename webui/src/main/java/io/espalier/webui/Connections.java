package io.espalier.webui;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds what connections cost that ask for nothing: so many at a time, of one address fewer, and
 * each only for a while without a whole request. An idle time alone would not do: whoever sends a
 * byte of a request now and then is never idle.
 */
final class Connections {
  /** Who reads an answer more slowly than that does not read it. */
  private static final int LEAST_BYTES_PER_MILLI = 16;

  private final WebSecurity.Connecting limits;
  private final Duration idle;
  private final Map<String, Integer> byAddress = new HashMap<>();
  private int open;

  /**
   * @param idle how long a connection may wait for its next request
   */
  Connections(WebSecurity.Connecting limits, Duration idle) {
    this.limits = limits;
    this.idle = idle;
  }

  private synchronized boolean enter(String address) {
    int own = byAddress.getOrDefault(address, 0);
    if (open >= limits.atATime() || own >= limits.perAddress()) {
      return false;
    }
    open++;
    byAddress.put(address, own + 1);
    return true;
  }

  private synchronized void leave(String address) {
    open--;
    if (byAddress.merge(address, -1, Integer::sum) == 0) {
      byAddress.remove(address);
    }
  }

  /** Those of one event loop, which alone calls it. */
  Loop on(Vertx vertx) {
    return new Loop(vertx);
  }

  /** What a connection is doing. */
  private static final class State {
    private long sinceNanos = System.nanoTime();
    private long allowedMillis;
    private @Nullable HttpServerResponse busyWith;

    State(long allowedMillis) {
      this.allowedMillis = allowedMillis;
    }

    boolean isOver(long now) {
      return busyWith == null && now - sinceNanos > allowedMillis * 1_000_000;
    }

    void waiting(long now, long millis) {
      busyWith = null;
      sinceNanos = now;
      allowedMillis = millis;
    }
  }

  /** The connections of one event loop. */
  final class Loop {
    private final IdentityHashMap<HttpConnection, State> states = new IdentityHashMap<>();

    private Loop(Vertx vertx) {
      long look = Math.max(50, Math.min(1_000, limits.requestWithin().toMillis() / 4));
      vertx.setPeriodic(look, timer -> look());
    }

    void opened(HttpConnection connection) {
      SocketAddress from = connection.remoteAddress();
      String host = from == null ? null : from.hostAddress();
      String address = Access.network(host == null ? "" : host);
      if (!enter(address)) {
        connection.close();
        return;
      }
      states.put(connection, new State(limits.requestWithin().toMillis()));
      connection.closeHandler(
          closed -> {
            states.remove(connection);
            leave(address);
          });
    }

    void asked(HttpServerRequest request) {
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
            HttpServerResponse answer = state.busyWith;
            if (answer != null && answer.ended()) {
              state.waiting(now, idle.toMillis() + answer.bytesWritten() / LEAST_BYTES_PER_MILLI);
            }
            if (state.isOver(now)) {
              over.add(connection);
            }
          });
      over.forEach(HttpConnection::close);
    }
  }
}
