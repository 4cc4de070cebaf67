package io.espalier.webui;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stream of server-sent events being read. */
final class Reading implements AutoCloseable {
  private final Socket socket;
  private final BufferedReader lines;

  Reading(Served served, String path, String... headers) throws IOException {
    this(served.connect(), path, headers);
  }

  /** A stream that a client at an address of this host reads. */
  static Reading from(String address, Served served, String path) throws IOException {
    return new Reading(served.connectFrom(address), path);
  }

  private Reading(Socket connected, String path, String... headers) throws IOException {
    socket = connected;
    socket.setSoTimeout(20_000);
    String request =
        "GET "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            + String.join("\r\n", headers);
    socket.getOutputStream().write((request.strip() + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
    lines =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /** The next line, or null at the end. */
  @Nullable String line() throws IOException {
    return lines.readLine();
  }

  /** Lines up to and including the first that contains the text. */
  List<String> until(String text) throws IOException {
    List<String> read = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      read.add(line);
      if (line.contains(text)) {
        return read;
      }
    }
    throw new AssertionError("the stream ended without \"" + text + "\": " + read);
  }

  /** The ids up to the first line that contains the text. */
  List<String> idsUntil(String text) throws IOException {
    return until(text).stream()
        .filter(line -> line.startsWith("id: "))
        .map(line -> line.substring(4))
        .toList();
  }

  /** Ends the connection. */
  void hangUp() throws IOException {
    socket.close();
  }

  @Override
  public void close() throws IOException {
    hangUp();
  }
}
