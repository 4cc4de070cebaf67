package io.espalier.thrift.rpc;

import java.util.LinkedHashSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the number of connections of a server. Of too many connections it closes the one that
 * matters least: a peer that hoards connections loses them, one that uses them keeps its own.
 * Thread-safe.
 */
final class ConnectionCrowd {
  private static final Logger log = LoggerFactory.getLogger(ConnectionCrowd.class);

  private final RpcLimits limits;

  /** Connections that have not greeted; the oldest is first. */
  private final LinkedHashSet<RpcConnection> strangers = new LinkedHashSet<>();

  /** Greeted connections with no open call; the one that was used last is last. */
  private final LinkedHashSet<RpcConnection> silent = new LinkedHashSet<>();

  private int members;
  private long complaints;

  ConnectionCrowd(RpcLimits limits) {
    this.limits = limits;
  }

  /** A peer has connected. */
  void opened(RpcConnection connection) {
    RpcConnection oldest = null;
    synchronized (this) {
      strangers.add(connection);
      if (strangers.size() > limits.maxStrangers()) {
        oldest = strangers.iterator().next();
        strangers.remove(oldest);
      }
    }
    refuse(oldest, "too many connections that do not say who they are");
  }

  /**
   * A peer has greeted.
   *
   * @return false when all other connections are at work, so this one cannot stay
   */
  boolean greeted(RpcConnection connection) {
    RpcConnection oldest = null;
    synchronized (this) {
      strangers.remove(connection);
      members++;
      if (members > limits.maxConnections()) {
        if (silent.isEmpty()) {
          return false;
        }
        oldest = silent.iterator().next();
        silent.remove(oldest);
      }
    }
    refuse(oldest, "there are more than " + limits.maxConnections() + " connections");
    return true;
  }

  /** No call is open on the connection. */
  synchronized void silent(RpcConnection connection) {
    silent.remove(connection);
    silent.add(connection);
  }

  /** A call is open on the connection. */
  synchronized void busy(RpcConnection connection) {
    silent.remove(connection);
  }

  synchronized void closed(RpcConnection connection, boolean wasGreeted) {
    strangers.remove(connection);
    silent.remove(connection);
    if (wasGreeted) {
      members--;
    }
  }

  private void refuse(@Nullable RpcConnection connection, String why) {
    if (connection != null) {
      connection.refuse(why);
    }
  }

  /**
   * Logs only the 1st, 10th, 100th complaint as a warning, so that a hostile peer cannot fill the
   * log.
   */
  void complain(RpcConnection connection, String what) {
    long count;
    synchronized (this) {
      count = ++complaints;
    }
    long power = 1;
    while (power < count) {
      power *= 10;
    }
    if (power == count || count % 1_000 == 0) {
      log.warn("the connection of {} is closed: {} ({} such so far)", connection, what, count);
    } else {
      log.debug("the connection of {} is closed: {}", connection, what);
    }
  }
}
