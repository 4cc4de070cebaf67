package example;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * {@code lines}: calls a service over TCP, one line there and one line back. The requests are
 *
 * <pre>
 * start INVOCATION JOB NODE     poll INVOCATION     cancel INVOCATION
 * </pre>
 *
 * <p>with percent-encoded names, and the answers
 *
 * <pre>
 * running [N]      it goes on, and has done N pieces
 * ended STATUS     it has ended with this status line, such as "done" or "incomplete"
 * failed REASON    it has failed
 * cancelled        it was cancelled, and does not run
 * busy SECONDS     only after "start": it was not carried out; try again later
 * unknown          no such invocation
 * </pre>
 *
 * <p>Whatever else happens after a request was sent is an unknown outcome. The options are {@code
 * host}, in which <code>{host}</code> and all other placeholders are replaced, {@code port}, and
 * {@code timeout_sec} for one request from its connection to its answer (60).
 */
public final class LineCalls implements CallClient {
  private static final int MOST_BYTES = 4_096;
  private static final int MOST_QUOTED = 200;

  // Espalier leaves at most 500 polls and 500 starts of one service unanswered, so that the number
  // of threads is bounded.
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "line-calls");
            thread.setDaemon(true);
            return thread;
          });

  /** The options of one call, with its placeholders replaced. */
  private record Address(String host, int port, int timeoutMillis) {
    static Address of(Call call) {
      Json.Obj options = call.spec().options();
      Map<String, String> wrong = wrong(options);
      if (!wrong.isEmpty()) {
        throw new IllegalArgumentException(wrong.toString());
      }
      String host = options.get("host") instanceof Json.Str text ? text.value() : "";
      for (Map.Entry<String, String> name : call.names().entrySet()) {
        host = host.replace("{" + name.getKey() + "}", name.getValue());
      }
      // Names of nodes are foreign text.
      if (!host.matches("[A-Za-z0-9._:-]+")) {
        throw new IllegalArgumentException("no name of a host: " + quoted(host));
      }
      return new Address(
          host, number(options, "port", 0), number(options, "timeout_sec", 60) * 1_000);
    }
  }

  @Override
  public String executor() {
    return "lines";
  }

  @Override
  public Map<String, String> objections(Json.Obj options) {
    return wrong(options);
  }

  private static Map<String, String> wrong(Json.Obj options) {
    Map<String, String> wrong = new LinkedHashMap<>();
    if (!(options.get("host") instanceof Json.Str)) {
      wrong.put("host", "must be the name of a host");
    }
    int port = number(options, "port", 0);
    if (port < 1 || port > 65_535) {
      wrong.put("port", "must be a number from 1 to 65535");
    }
    int timeout = number(options, "timeout_sec", 60);
    if (timeout < 1 || timeout > 3_600) {
      wrong.put("timeout_sec", "must be a number from 1 to 3600");
    }
    for (String option : options.members().keySet()) {
      if (!option.equals("host") && !option.equals("port") && !option.equals("timeout_sec")) {
        wrong.put(option, "there is no such option");
      }
    }
    return wrong;
  }

  private static int number(Json.Obj options, String option, int otherwise) {
    Json value = options.get(option);
    if (value == null) {
      return otherwise;
    }
    try {
      return value instanceof Json.Num number ? number.value().intValueExact() : -1;
    } catch (ArithmeticException e) {
      return -1;
    }
  }

  @Override
  public String description(Call call) {
    return "lines to " + service(call);
  }

  @Override
  public String service(Call call) {
    Address to = Address.of(call);
    return to.host + ":" + to.port;
  }

  @Override
  public CompletionStage<CallAnswer> start(Call call, Json.Obj argument, BooleanSupplier maySend) {
    String names = " " + encoded(call.name("job")) + " " + encoded(call.name("node"));
    return request(call, "start", names, maySend);
  }

  @Override
  public boolean canPoll(Call call) {
    return true;
  }

  @Override
  public CompletionStage<CallAnswer> poll(Call call, String handle) {
    return request(call, "poll", "", () -> true);
  }

  @Override
  public boolean canCancel(Call call) {
    return true;
  }

  @Override
  public CompletionStage<CallAnswer> cancel(Call call, String handle) {
    return request(call, "cancel", "", () -> true);
  }

  @Override
  public PollPace pace(Call call) {
    return new PollPace(1_000, 30_000);
  }

  @Override
  public boolean provesAbsence(Call call) {
    // A service may get a call after it was asked about it, and it may have been restarted.
    return false;
  }

  private CompletionStage<CallAnswer> request(
      Call call, String verb, String names, BooleanSupplier maySend) {
    String line = verb + " " + call.name("invocation") + names + "\n";
    return CompletableFuture.supplyAsync(
        () -> exchange(call, verb, line.getBytes(StandardCharsets.UTF_8), maySend), threads);
  }

  private static CallAnswer exchange(Call call, String verb, byte[] line, BooleanSupplier maySend) {
    boolean isSent = false;
    try (Socket socket = new Socket()) {
      Address to = Address.of(call);
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(to.timeoutMillis);
      socket.connect(new InetSocketAddress(to.host, to.port), to.timeoutMillis);
      if (!maySend.getAsBoolean()) {
        return new CallAnswer.NotStarted("it may not be sent any more", 1);
      }
      // From the first byte on nobody knows whether the service has the request.
      isSent = true;
      socket.getOutputStream().write(line);
      return meaning(verb, answer(socket, deadline));
    } catch (IOException | RuntimeException e) {
      String what = quoted(String.valueOf(e.getMessage()));
      return isSent ? new CallAnswer.Unknown(what) : new CallAnswer.NotStarted(what, 0);
    }
  }

  /** Reads one line, whose length and time are bounded however the service sends it. */
  private static String answer(Socket socket, long deadline) throws IOException {
    InputStream in = socket.getInputStream();
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    byte[] some = new byte[512];
    while (line.size() <= MOST_BYTES) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        throw new SocketTimeoutException("no answer in time");
      }
      socket.setSoTimeout((int) left);
      int length = in.read(some);
      if (length < 0) {
        throw new IOException("the connection was closed before the end of the answer");
      }
      for (int i = 0; i < length; i++) {
        if (some[i] == '\n') {
          line.write(some, 0, i);
          return line.toString(StandardCharsets.UTF_8);
        }
      }
      line.write(some, 0, length);
    }
    throw new IOException("an answer of more than " + MOST_BYTES + " bytes");
  }

  private static CallAnswer meaning(String verb, String line) {
    String[] words = line.strip().split(" ", 2);
    String rest = words.length > 1 ? words[1].strip() : "";
    switch (words[0]) {
      case "running":
        if (rest.isEmpty()) {
          return CallAnswer.Running.PLAIN;
        }
        if (rest.matches("[0-9]{1,9}")) {
          Json.Obj progress = Json.object().put("done", Integer.parseInt(rest)).build();
          return new CallAnswer.Running("", progress);
        }
        break;
      case "ended":
        if (!rest.isEmpty()) {
          return new CallAnswer.Ended(rest);
        }
        break;
      case "failed":
        return new CallAnswer.Failed(quoted(rest));
      case "cancelled":
        return new CallAnswer.Cancelled();
      case "busy":
        if (verb.equals("start") && rest.matches("[1-9][0-9]{0,3}")) {
          return new CallAnswer.NotStarted("the service is busy", 1_000L * Long.parseLong(rest));
        }
        break;
      case "unknown":
        return new CallAnswer.NotFound("the service does not know it");
      default:
        break;
    }
    return new CallAnswer.Unknown("no answer of the protocol: " + quoted(line));
  }

  /** One line, not longer than what people read, without characters that a terminal obeys. */
  private static String quoted(String text) {
    String line = text.replaceAll("\\p{Cntrl}", "?");
    return line.length() <= MOST_QUOTED ? line : line.substring(0, MOST_QUOTED) + "...";
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
