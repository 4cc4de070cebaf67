package io.espalier.server.store.jdbc.mysql;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** Between a store and its server: lets everything through, but for the answers of commits. */
final class AnswerThief implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;
  private final AtomicInteger toSteal = new AtomicInteger();
  private final AtomicInteger stolen = new AtomicInteger();

  AnswerThief(int target) throws IOException {
    this.target = target;
    thread(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The answers of the next commits get lost, with their connections. */
  void stealNext(int count) {
    toSteal.set(count);
  }

  int stolen() {
    return stolen.get();
  }

  private void accept() throws IOException {
    while (!listener.isClosed()) {
      Socket client = listener.accept();
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      thread(() -> pass(server.getInputStream(), client.getOutputStream(), client, server));
      thread(() -> listen(client, server));
    }
  }

  private void listen(Socket client, Socket server) throws IOException {
    try (client;
        server) {
      InputStream in = client.getInputStream();
      OutputStream out = server.getOutputStream();
      byte[] buffer = new byte[1 << 16];
      int count = in.read(buffer);
      while (count > 0) {
        boolean commit =
            new String(buffer, 0, count, StandardCharsets.ISO_8859_1)
                .toLowerCase(Locale.ROOT)
                .endsWith("commit");
        if (commit && toSteal.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
          // From now on nothing comes back; the server gets the commit all the same.
          client.close();
          out.write(buffer, 0, count);
          out.flush();
          stolen.incrementAndGet();
          server.shutdownOutput();
          return;
        }
        out.write(buffer, 0, count);
        out.flush();
        count = in.read(buffer);
      }
    }
  }

  private static void pass(InputStream in, OutputStream out, Socket client, Socket server)
      throws IOException {
    try (client;
        server) {
      in.transferTo(out);
    }
  }

  /** Work that ends when its sockets are closed. */
  private interface Work {
    void run() throws IOException;
  }

  private static void thread(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException closed) {
                Thread.currentThread().interrupt();
              }
            },
            "answer-thief");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
