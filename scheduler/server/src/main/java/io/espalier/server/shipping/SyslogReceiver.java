package io.espalier.server.shipping;

import io.espalier.nodes.TimeLimit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends lines as messages of RFC 5424 over TCP, each preceded by its length (RFC 6587, octet
 * counting). The protocol has no acknowledgements: what a broken connection had in its buffers is
 * lost.
 */
final class SyslogReceiver implements LogReceiver {
  private static final int CONNECT_MILLIS = 10_000;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Facility "user", severity "informational". */
  private static final int PRIORITY = 14;

  private final String host;
  private final int port;
  private final String sender;
  private @Nullable Socket open;
  private boolean closed;

  SyslogReceiver(String host, int port) {
    this.host = host;
    this.port = port;
    this.sender = hostName();
  }

  @Override
  public void send(List<Line> lines) throws IOException, InterruptedException {
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    for (Line line : lines) {
      Instant time = Instant.ofEpochMilli(line.timeMillis()).truncatedTo(ChronoUnit.MILLIS);
      byte[] message =
          ("<" + PRIORITY + ">1 " + time + " " + sender + " espalier - task - " + line.json())
              .getBytes(StandardCharsets.UTF_8);
      messages.writeBytes((message.length + " ").getBytes(StandardCharsets.US_ASCII));
      messages.writeBytes(message);
    }
    boolean sent = false;
    try {
      OutputStream out = connected().getOutputStream();
      // A write has no time limit of its own, and does not heed an interrupt: the socket is closed.
      sent =
          TimeLimit.call(
              TIMEOUT,
              "syslog",
              () -> {
                out.write(messages.toByteArray());
                return true;
              });
    } catch (TimeoutException e) {
      throw new IOException("syslog server took nothing within " + TIMEOUT.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException("syslog server failed: " + cause.getMessage(), e);
    } catch (IOException e) {
      throw new IOException("syslog server failed: " + e.getMessage(), e);
    } finally {
      if (!sent) {
        disconnect();
      }
    }
  }

  private Socket connected() throws IOException {
    Socket socket = current();
    if (socket != null && !endedByPeer(socket)) {
      return socket;
    }
    disconnect();
    Socket fresh = new Socket();
    boolean usable = false;
    try {
      fresh.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
      usable = keep(fresh);
    } finally {
      if (!usable) {
        fresh.close();
      }
    }
    if (!usable) {
      throw new IOException("closed");
    }
    return fresh;
  }

  /** Tells whether the server has closed the connection, in which case a write would be lost. */
  private static boolean endedByPeer(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    socket.setSoTimeout(1);
    try {
      return in.read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  private synchronized @Nullable Socket current() {
    return open;
  }

  private synchronized boolean keep(Socket fresh) {
    if (!closed) {
      open = fresh;
    }
    return !closed;
  }

  private synchronized void disconnect() {
    Socket socket = open;
    open = null;
    if (socket == null) {
      return;
    }
    try {
      socket.close();
    } catch (IOException ignored) {
      // Nothing is left to send over it.
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    disconnect();
  }

  private static String hostName() {
    try {
      String name = InetAddress.getLocalHost().getHostName().replaceAll("[^!-~]", "_");
      return name.isEmpty() ? "-" : name.substring(0, Math.min(255, name.length()));
    } catch (UnknownHostException e) {
      return "-";
    }
  }
}
