package io.espalier.server.notify;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.Severity;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Webhooks, against receivers that really listen. */
class WebhookTest {
  private static final Instant NOW = Instant.ofEpochSecond(1_700_000_000);

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path directory;

  private final Webhook webhook = new Webhook(InstantSource.fixed(NOW));
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private volatile String answer = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";

  @SuppressWarnings("NullAway.Init")
  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    Files.writeString(directory.resolve("key"), " s3cret\n");
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve, "receiver");
    thread.setDaemon(true);
    thread.start();
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    for (Socket socket : open) {
      socket.close();
    }
  }

  private void serve() {
    try {
      while (true) {
        Socket socket = server.accept();
        open.add(socket);
        requests.add(request(socket.getInputStream()));
        socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        if (!answer.isEmpty()) {
          socket.close();
        }
      }
    } catch (IOException e) {
      // The test is over.
      return;
    }
  }

  private static String request(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    int length = -1;
    while (length < 0 || text.length() < length) {
      int next = in.read();
      if (next < 0) {
        break;
      }
      text.append((char) next);
      int headers = text.indexOf("\r\n\r\n");
      if (length < 0 && headers > 0) {
        String value = text.toString().split("(?i)content-length: ", 2)[1].split("\r", 2)[0];
        length = headers + 4 + Integer.parseInt(value);
      }
    }
    return text.toString();
  }

  private Json.Obj options(String more) {
    String text =
        """
                {"url": "http://127.0.0.1:%d/hook", "secret_file": "%s", "allow_private": true,
                 "timeout_sec": 0.5%s}
                """
            .formatted(server.getLocalPort(), directory.resolve("key"), more);
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(text).value());
  }

  private static Notification notification() {
    return new Notification(
        "ops",
        7,
        "3.7",
        "job_state",
        Severity.ERROR,
        "job:j",
        "job \"j\" is failed",
        1_700_000_000_000L,
        1,
        Json.object().put("job", "j").put("owner", "ann").build(),
        Json.object().put("to", "failed").build());
  }

  private String send(String more) throws InterruptedException {
    return webhook.send(options(more), notification(), "abc-3.7");
  }

  @Test
  void a_receiver_gets_the_notification_with_its_id_and_a_signature_of_it() throws Exception {
    assertThat(send("")).isEmpty();
    String request = requests.get(0);
    String body = request.substring(request.indexOf("\r\n\r\n") + 4);
    assertThat(request).startsWith("POST /hook HTTP/1.1\r\n");
    assertThat(request).contains("Espalier-Notification: abc-3.7\r\n");
    assertThat(request)
        .contains(
            "Espalier-Signature: "
                + Webhook.signature(body.getBytes(StandardCharsets.UTF_8), "s3cret", NOW));
    assertThat(body)
        .isEqualTo(
            "{\"id\":\"abc-3.7\",\"kind\":\"job_state\",\"severity\":\"error\",\"subject\":\"job:j\","
                + "\"summary\":\"job \\\"j\\\" is failed\",\"time_ms\":1700000000000,\"count\":1,"
                + "\"job\":\"j\",\"owner\":\"ann\",\"data\":{\"to\":\"failed\"}}");
  }

  @Test
  void the_signature_is_an_hmac_that_others_compute_too() {
    // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    assertThat(Webhook.signature("{}".getBytes(StandardCharsets.UTF_8), "key", NOW))
        .isEqualTo(
            "t=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae");
  }

  @Test
  void a_body_is_filled_so_that_no_value_changes_its_form() throws Exception {
    assertThat(
            send(
                ", \"body\": {\"text\": \"{severity} {summary} {secret}\", \"n\": [1, \"{action}\"],"
                    + " \"set\": \"{set}\"}"))
        .isEmpty();
    assertThat(requests.get(0))
        .endsWith(
            "{\"text\":\"error job \\\"j\\\" is failed s3cret\",\"n\":[1,\"trigger\"],\"set\":\"\"}");
  }

  @Test
  void a_redirect_is_a_failure_and_is_not_followed() throws Exception {
    answer =
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:"
            + server.getLocalPort()
            + "/elsewhere\r\nContent-Length: 0\r\n\r\n";
    assertThat(send(""))
        .isEqualTo("answered with status 307: it points elsewhere, which is not followed");
    assertThat(requests).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 429, 500, 503})
  void another_answer_is_a_failure_with_its_first_line(int status) throws Exception {
    answer = "HTTP/1.1 " + status + " No\r\nContent-Length: 9\r\n\r\nno\u001b way\nx";
    assertThat(send("")).isEqualTo("answered with status " + status + ": no  way");
  }

  @Test
  void an_answer_that_repeats_the_secret_is_shown_without_it() throws Exception {
    answer = "HTTP/1.1 404 No\r\nContent-Length: 15\r\n\r\nno /hook/s3cret";
    assertThat(send("")).isEqualTo("answered with status 404: no /hook/***");
  }

  @Test
  void a_receiver_that_hangs_fails_in_time() throws Exception {
    answer = "";
    assertThat(send("")).isEqualTo("did not answer within 0.5 s");
  }

  @Test
  void a_receiver_that_hangs_within_its_answer_fails_in_time() throws Exception {
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nx";
    // The socket is closed after what is there, before the promised end.
    assertThat(send("")).isNotEmpty();
  }

  @Test
  void a_receiver_that_closes_early_is_a_failure() throws Exception {
    answer = "HTTP/1.1 20";
    assertThat(send("")).startsWith("failed: ");
  }

  @Test
  void an_answer_without_end_is_cut() throws Exception {
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + "x".repeat(70_000);
    assertThat(send("")).isEmpty();
  }

  @Test
  void nobody_listens() throws Exception {
    Json.Obj to = options("");
    server.close();
    assertThat(webhook.send(to, notification(), "x")).startsWith("failed: cannot connect");
  }

  @Test
  void without_a_permission_this_host_is_refused_in_every_form() throws Exception {
    for (String host :
        List.of(
            "127.0.0.1",
            "localhost",
            "2130706433",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[64:ff9b:1:7f00::1]",
            "[2001:0:4136:e378::1]",
            "0.0.0.0",
            "[::]",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "[fd00::1]")) {
      Json.Obj to =
          options("")
              .with("allow_private", Json.Bool.FALSE)
              .with("url", Json.of("http://" + host + ":" + server.getLocalPort() + "/x"));
      assertThat(webhook.send(to, notification(), "x")).as(host).contains("set \"allow_private\"");
    }
    assertThat(requests).isEmpty();
  }

  @Test
  void link_local_addresses_are_refused_with_a_permission_too() throws Exception {
    for (String host :
        List.of("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "224.0.0.1")) {
      Json.Obj to = options("").with("url", Json.of("http://" + host + "/x"));
      assertThat(webhook.send(to, notification(), "x"))
          .as(host)
          .contains("link-local or multicast");
    }
  }

  @Test
  void public_addresses_are_allowed() throws Exception {
    for (String host :
        List.of("93.184.216.34", "2606:2800:220:1::1", "172.32.0.1", "100.128.0.1")) {
      assertThat(ReceiverAddress.objection(InetAddress.getByName(host), false)).as(host).isEmpty();
    }
  }

  @Test
  void a_secret_that_is_missing_empty_or_long_is_said_without_its_content() throws Exception {
    Path key = directory.resolve("key");
    Files.writeString(key, "  \n");
    assertThat(send("")).isEqualTo("the secret in " + key + " is empty");
    Files.writeString(key, "x".repeat(5_000));
    assertThat(send("")).contains("cannot be read: it is longer than 4096 bytes");
    Files.delete(key);
    assertThat(send("")).startsWith("the secret in " + key + " cannot be read");
    Files.writeString(key, "a b");
    String said =
        webhook.send(
            options("").with("url", Json.of("http://127.0.0.1:1/{secret}")), notification(), "x");
    assertThat(said).contains("makes the URL no URL").doesNotContain("a b");
    assertThat(requests).isEmpty();
  }
}
