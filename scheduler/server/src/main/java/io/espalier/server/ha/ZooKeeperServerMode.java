package io.espalier.server.ha;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queries the mode of one server of an ensemble. */
final class ZooKeeperServerMode {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperServerMode.class);
  private static final int DEFAULT_PORT = 2181;
  private static final int PATIENCE_MILLIS = 3_000;
  private static final String MODE = "Mode: ";

  private ZooKeeperServerMode() {}

  /**
   * Sends the four-letter word {@code srvr}, which servers answer by default.
   *
   * @param server as {@code HOST:PORT}
   * @param tls encrypts the connection; empty: in the clear
   * @return leader, follower, observer or standalone; "serving" when the server does not say; empty
   *     when it does not answer, or serves no clients because it has lost the others
   */
  static String of(String server, Optional<SSLContext> tls) {
    int colon = server.lastIndexOf(':');
    boolean port = colon > server.lastIndexOf(']');
    String host = port ? server.substring(0, colon) : server;
    if (host.startsWith("[")) {
      host = host.substring(1, host.length() - 1);
    }
    try (Socket socket = socket(tls)) {
      socket.connect(
          new InetSocketAddress(
              host, port ? Integer.parseInt(server.substring(colon + 1)) : DEFAULT_PORT),
          PATIENCE_MILLIS);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      for (String line = answer.readLine(); line != null; line = answer.readLine()) {
        if (line.startsWith(MODE)) {
          return line.substring(MODE.length()).strip();
        }
        if (line.contains("not currently serving")) {
          return "";
        }
      }
      return "serving";
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} does not answer", server, e);
      return "";
    }
  }

  private static Socket socket(Optional<SSLContext> tls) throws IOException {
    if (tls.isEmpty()) {
      return new Socket();
    }
    SSLSocket socket = (SSLSocket) tls.get().getSocketFactory().createSocket();
    SSLParameters checked = socket.getSSLParameters();
    checked.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(checked);
    return socket;
  }
}
