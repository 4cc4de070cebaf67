package io.espalier.server.shipping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.json.JsonReader;
import io.espalier.server.store.DataDirectory;
import io.espalier.worker.logs.SegmentLogStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With a real log store, and receivers behind real sockets. */
@Timeout(120)
final class LogShipperTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Path directory;
  private final List<String> problems = new CopyOnWriteArrayList<>();
  private DataDirectory data;
  private SegmentLogStore logs;

  LogShipperTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @BeforeEach
  void open() throws IOException {
    data = DataDirectory.open(directory.resolve("data"), "test");
    logs = SegmentLogStore.open(data.logs());
  }

  @AfterEach
  void close() {
    logs.close();
    data.close();
  }

  private LogShipper start(String address) {
    return LogShipper.start(
        logs, data, LogAddress.parse(address), "w1", problem -> problems.add("" + problem));
  }

  private void write(String job, int from, int to) {
    for (int i = from; i < to; i++) {
      logs.append(Stream.STDOUT, job, "n" + i, 1_700_000_000_000L + i, job + " " + i + "\n");
    }
  }

  private static List<String> texts(List<String> lines) {
    return lines.stream().map(line -> ((Json.Str) field(line, "text")).value()).toList();
  }

  private static Json field(String line, String name) {
    Json object = Objects.requireNonNull(JsonReader.parse(line).value());
    return Objects.requireNonNull(((Json.Obj) object).get(name), () -> name + " in " + line);
  }

  private static List<String> numbered(String job, int from, int to) {
    List<String> texts = new ArrayList<>();
    for (int i = from; i < to; i++) {
      texts.add(job + " " + i);
    }
    return texts;
  }

  @Test
  void aFileReceivesAllLinesOnceInOrderOverTwoStarts() throws IOException {
    Path file = directory.resolve("out.jsonl");
    write("a", 0, 2_500);
    start("file://" + file).close();
    assertThat(texts(Files.readAllLines(file))).isEqualTo(numbered("a", 0, 2_500));

    write("b", 0, 10);
    start("file://" + file).close();

    List<String> lines = Files.readAllLines(file);
    assertThat(texts(lines).subList(2_500, lines.size())).isEqualTo(numbered("b", 0, 10));
    assertThat(lines.get(2_500))
        .startsWith(
            "{\"time\":\"2023-11-14T22:13:20Z\",\"worker\":\"w1\",\"job\":\"b\",\"node\":\"n0\","
                + "\"invocation\":\"\",\"stream\":\"stdout\",\"id\":");
    assertThat(problems).isEmpty();
  }

  @Test
  void aLineThatACrashHasCutInTheFileDoesNotSpoilTheNextOne() throws IOException {
    Path file = directory.resolve("out.jsonl");
    Files.writeString(file, "{\"time\":\"20", StandardOpenOption.CREATE_NEW);
    write("a", 0, 2);
    start("file://" + file).close();

    List<String> lines = Files.readAllLines(file);
    assertThat(lines.get(0)).isEqualTo("{\"time\":\"20");
    assertThat(texts(lines.subList(1, lines.size()))).isEqualTo(numbered("a", 0, 2));
  }

  @Test
  void whileAServerFailsItsLinesWaitAndTheProblemIsToldUntilItTakesThem() throws Exception {
    List<String> taken = new CopyOnWriteArrayList<>();
    List<String> tokens = new CopyOnWriteArrayList<>();
    AtomicInteger status = new AtomicInteger(503);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/in",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          if (status.get() == 200) {
            taken.addAll(body.lines().toList());
            tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
          }
          exchange.sendResponseHeaders(status.get(), -1);
          exchange.close();
        });
    server.start();
    Path token = Files.writeString(directory.resolve("token"), "Authorization: Bearer t\n");
    write("a", 0, 3);
    try (LogShipper shipper =
        start("http://127.0.0.1:" + server.getAddress().getPort() + "/in#headers_file=" + token)) {
      await().atMost(PATIENCE).until(() -> !problems.isEmpty());
      assertThat(problems.get(0)).contains("cannot be sent to http://", "status 503");
      assertThat(shipper.failures()).isPositive();
      assertThat(shipper.shipped()).isZero();
      assertThat(shipper.behind()).isPositive();

      status.set(200);
      await().atMost(PATIENCE).until(() -> shipper.shipped() == 3);
      await().atMost(PATIENCE).until(() -> problems.contains("null"));
      assertThat(shipper.behind()).isZero();
    } finally {
      server.stop(0);
    }
    assertThat(texts(taken)).isEqualTo(numbered("a", 0, 3));
    assertThat(tokens).containsOnly("Bearer t");
  }

  @Test
  void aPositionThatCannotBeKeptIsToldAsAProblemToo() throws IOException {
    Path file = directory.resolve("out.jsonl");
    Files.createDirectories(data.root().resolve("logs-shipped.new/full"));
    write("a", 0, 1);
    try (LogShipper shipper = start("file://" + file)) {
      await().atMost(PATIENCE).until(() -> !problems.isEmpty());
      assertThat(problems.get(0)).contains("cannot be sent to file:///", "cannot be used");
      assertThat(shipper.failures()).isPositive();
    }
  }

  @Test
  void aSyslogServerReceivesCountedMessagesAlsoAfterItHasClosedTheConnection() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      write("a", 0, 1);
      try (LogShipper shipper = start("syslog://127.0.0.1:" + server.getLocalPort())) {
        try (Socket first = server.accept()) {
          assertThat(message(first)).contains("\"text\":\"a 0\"");
        }
        await().atMost(PATIENCE).until(() -> shipper.shipped() == 1);
        write("a", 1, 2);
        try (Socket second = server.accept()) {
          String message = message(second);
          assertThat(message).startsWith("<14>1 2023-11-14T22:13:20.001Z ");
          assertThat(message).contains(" espalier - task - {\"time\":\"2023-11-14T22:13:20.001Z\"");
          assertThat(message).endsWith("\"text\":\"a 1\"}");
        }
      }
    }
  }

  @Test
  void aSyslogServerThatTakesNothingIsToldAsAProblem() throws Exception {
    try (ServerSocket server = new ServerSocket()) {
      server.setReceiveBufferSize(4096);
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 5);
      String much = "x".repeat(8_000);
      for (int i = 0; i < 1_000; i++) {
        logs.append(Stream.STDOUT, "a", "n" + i, 1_700_000_000_000L, much + "\n");
      }
      // The system accepts the connection, and nobody reads from it.
      try (LogShipper shipper = start("syslog://127.0.0.1:" + server.getLocalPort())) {
        await().atMost(PATIENCE).until(() -> !problems.isEmpty());
        assertThat(problems.get(0)).contains("took nothing within 10 s");
        assertThat(shipper.failures()).isPositive();
      }
    }
  }

  private static String message(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder length = new StringBuilder();
    int next = in.read();
    while (next != ' ') {
      assertThat(next).isBetween((int) '0', (int) '9');
      length.append((char) next);
      next = in.read();
    }
    return new String(in.readNBytes(Integer.parseInt(length.toString())), StandardCharsets.UTF_8);
  }

  @Test
  void aServerThatIsAwayDoesNotKeepTheProcessFromEndingAndTheNextStartSendsTheLines()
      throws IOException {
    int port;
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = gone.getLocalPort();
    }
    write("a", 0, 2);
    start("syslog://127.0.0.1:" + port).close();
    assertThat(problems.get(0)).contains("cannot be sent to syslog://127.0.0.1:" + port);

    Path file = directory.resolve("out.jsonl");
    start("file://" + file).close();
    assertThat(texts(Files.readAllLines(file))).isEqualTo(numbered("a", 0, 2));
  }

  @Test
  void aDamagedPositionSaysWhatToDo() throws IOException {
    Files.writeString(data.root().resolve("logs-shipped"), "many");

    assertThatThrownBy(() -> start("file:///x/y"))
        .hasMessageContaining("logs-shipped")
        .hasMessageContaining("delete it to send all output again");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "out.jsonl | must begin with file:///",
        "ftp://host/x | must begin with file:///",
        "file://host/x | absolute path",
        "file:///x/ | absolute path",
        "file:///x#headers_file=y | HTTP address only",
        "syslog://host | host and TCP port",
        "syslog://host:601/x | host and TCP port",
        "http://name:word@host/ | a name or password",
        "http://host/#token=x | only #headers_file=FILE",
        "http://host/#headers_file= | only #headers_file=FILE",
        "http:///x | names no host",
      })
  void aWrongAddressIsRefusedWithAHint(String address, String hint) {
    assertThatThrownBy(() -> LogAddress.parse(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(hint);
  }
}
