import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A small region server that compacts its regions on demand: the service of this example. It
 * answers 202 at once, compacts for a moment, and can then be asked how it went. Like real
 * services it loses answers: one in twenty requests is carried out, and its connection is closed
 * without an answer.
 *
 * <p>It keeps the two promises of docs/calls.md: it carries out an invocation at most once, and
 * refuses one that it was asked about before it came.
 *
 * <p>Usage: java RegionServer.java PORT MILLIS LOG. Each compaction is a line of the log: host,
 * region, token, begin and end in milliseconds, and whether it was the only one of its region.
 */
public final class RegionServer {
  private static final Map<String, Invocation> INVOCATIONS = new ConcurrentHashMap<>();
  private static final Map<String, Boolean> BUSY = new ConcurrentHashMap<>();

  private record Invocation(String state) {}

  public static void main(String[] args) throws IOException {
    int millis = Integer.parseInt(args[1]);
    Path log = Path.of(args[2]);
    HttpServer server =
        HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 1000);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/compact/", exchange -> compact(exchange, millis, log));
    server.createContext("/invocations/", RegionServer::tell);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }

  /** POST /compact/HOST/REGION */
  private static void compact(HttpExchange exchange, int millis, Path log) throws IOException {
    String[] path = exchange.getRequestURI().getPath().split("/");
    String id = exchange.getRequestHeaders().getFirst("Espalier-Invocation");
    String token = exchange.getRequestHeaders().getFirst("Espalier-Token");
    long now = System.currentTimeMillis();
    boolean isNew = INVOCATIONS.putIfAbsent(id, new Invocation("running")) == null;
    if (!isNew) {
      answer(exchange, 409, "this invocation was refused, or came before");
      return;
    }
    Thread work =
        new Thread(
            () -> {
              String region = path[2] + " " + path[3];
              boolean alone = BUSY.putIfAbsent(region, true) == null;
              try {
                Thread.sleep(millis);
                BUSY.remove(region);
                String line =
                    region
                        + " "
                        + token
                        + " "
                        + now
                        + " "
                        + System.currentTimeMillis()
                        + " "
                        + alone;
                synchronized (RegionServer.class) {
                  Files.writeString(
                      log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
                INVOCATIONS.put(id, new Invocation("{\"result\": \"done\"}"));
              } catch (IOException | InterruptedException e) {
                INVOCATIONS.put(id, new Invocation("{\"result\": \"error_backoff\"}"));
              }
            });
    work.setDaemon(true);
    work.start();
    if (ThreadLocalRandom.current().nextInt(20) == 0) {
      exchange.close(); // and nobody knows whether it was carried out
      return;
    }
    answer(exchange, 202, "");
  }

  /** GET /invocations/ID: its state. One that nobody has sent is refused from now on. */
  private static void tell(HttpExchange exchange) throws IOException {
    String id = exchange.getRequestURI().getPath().substring("/invocations/".length());
    Invocation found = INVOCATIONS.putIfAbsent(id, new Invocation("refused"));
    if (found == null || found.state().equals("refused")) {
      answer(exchange, 404, "never heard of it");
    } else if (found.state().equals("running")) {
      answer(exchange, 202, "");
    } else {
      answer(exchange, 200, found.state());
    }
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
