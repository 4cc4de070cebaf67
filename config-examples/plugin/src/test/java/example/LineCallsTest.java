package example;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Inherits the tests that every client for calls must pass, against a real service. */
final class LineCallsTest extends CallClientContract {
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final ServerSocket service;
  private final int nobody;
  private volatile Behaviour behaviour = Behaviour.ENDS;

  LineCallsTest() throws IOException {
    service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = closed.getLocalPort();
    }
    daemon(this::serve);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "service");
    thread.setDaemon(true);
    thread.start();
  }

  private void serve() {
    while (!service.isClosed()) {
      try {
        Socket socket = service.accept();
        daemon(() -> answer(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void answer(Socket socket) {
    try (socket) {
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      String request = in.readLine();
      if (request == null) {
        return;
      }
      requests.add(request);
      OutputStream out = socket.getOutputStream();
      switch (behaviour) {
        case ENDS -> out.write(bytes("ended {\"result\": \"incomplete\"}\n"));
        case GOES_ON -> out.write(bytes("running 1\n"));
        case FAILS -> out.write(bytes("failed no space\n"));
        case REFUSES -> out.write(bytes("busy 7\n"));
        case KNOWS_NOTHING -> out.write(bytes("unknown\n"));
        case CANCELS -> out.write(bytes("cancelled\n"));
        case ANSWERS_GARBAGE -> out.write(bytes("\u0000\u001b[2J ended\n"));
        case ANSWERS_TOO_MUCH -> out.write(bytes("ended " + "x".repeat(10_000_000) + "\n"));
        // Waits until the client closes the connection.
        case IS_SILENT -> in.readLine();
        case LOSES_THE_CONNECTION -> out.write(bytes("ended do"));
      }
    } catch (IOException e) {
      // The client does not want to read all of it.
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  protected CallClient create() {
    return new LineCalls();
  }

  @Override
  protected void behaves(Behaviour now) {
    behaviour = now;
  }

  @Override
  protected int requests() {
    return requests.size();
  }

  private static Json.Obj options(int port) {
    return Json.object().put("host", "127.0.0.1").put("port", port).put("timeout_sec", 1).build();
  }

  @Override
  protected Json.Obj options() {
    return options(service.getLocalPort());
  }

  @Override
  protected Json.Obj optionsOfNobody() {
    return options(nobody);
  }

  @Override
  protected Json.Obj wrongOptions() {
    return options(65_536);
  }

  @Override
  protected void stop() throws IOException {
    service.close();
  }

  @AfterEach
  void namesAreEncoded() {
    assertThat(requests).allMatch(line -> line.matches("(start|poll|cancel) [0-9a-f-]{36}.*"));
    assertThat(requests)
        .filteredOn(line -> line.startsWith("start"))
        .allMatch(line -> line.endsWith(" job%20%C3%A9 n%2F1"));
  }

  @Test
  void wrongOptionsAreToldWhenTheConfigurationIsRead() {
    assertThat(new LineCalls().objections(Json.object().put("prot", 1).build()))
        .containsOnlyKeys("host", "port", "prot");
    assertThat(new LineCalls().objections(options())).isEmpty();
  }
}
