package io.espalier.server.shipping;

import io.espalier.nodes.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Posts JSON lines as {@code application/x-ndjson}. It reads the file of headers for each request,
 * so that a token can be replaced.
 */
final class HttpReceiver implements LogReceiver {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MOST_ANSWER_BYTES = 64 * 1024;

  private final URI address;
  private final Optional<Path> headersFile;
  private final HttpClient client = HttpExchange.client(TIMEOUT);

  HttpReceiver(URI address, Optional<Path> headersFile) {
    this.address = address;
    this.headersFile = headersFile;
  }

  @Override
  public void send(List<Line> lines) throws IOException, InterruptedException {
    Map<String, String> headers = new HashMap<>();
    if (headersFile.isPresent()) {
      headers.putAll(HttpExchange.headersIn(headersFile.get()));
    }
    headers.put("Content-Type", "application/x-ndjson");
    headers.put("User-Agent", "espalier");
    StringBuilder body = new StringBuilder();
    lines.forEach(line -> body.append(line.json()).append('\n'));
    new HttpExchange(client, headers, TIMEOUT, MOST_ANSWER_BYTES, "in an answer")
        .post(address, body.toString().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {}
}
