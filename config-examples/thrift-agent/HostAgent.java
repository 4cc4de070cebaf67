import io.espalier.agent.Agent;
import io.espalier.agent.Answer;
import io.espalier.agent.Start;
import io.espalier.agent.State;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TSSLTransportFactory;
import org.apache.thrift.transport.TSSLTransportFactory.TSSLTransportParameters;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/**
 * The agent of agent.py in Java: {@code HostAgent LOG KEYSTORE PASSWORD SECRET_FILE}. It prints
 * "listening on PORT", speaks TLS, and wants the secret with each request. It works on each
 * invocation once, for a fraction of a second, loses every tenth answer to a start, and reports
 * every second end by itself.
 */
public final class HostAgent implements Agent.Iface {
  private final PrintStream log;
  private final byte[] secret;
  private final Map<String, Answer> answers = new HashMap<>();

  /** Invocations that were asked about before they came. */
  private final Set<String> refused = new HashSet<>();

  private final ScheduledExecutorService work = Executors.newScheduledThreadPool(2);
  private final HttpClient http = HttpClient.newHttpClient();
  private int starts;

  private HostAgent(PrintStream log, String secret) {
    this.log = log;
    this.secret = secret.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public synchronized Answer start(Start start, String said) throws TException {
    if (!knows(said)) {
      return new Answer(State.REFUSED).setMessage("another secret is wanted");
    }
    String invocation = start.getInvocation();
    if (refused.contains(invocation)) {
      return new Answer(State.REFUSED)
          .setMessage("it was asked about before it came")
          .setRetry_after_ms(1000);
    }
    Answer known = answers.get(invocation);
    if (known != null) {
      return known;
    }
    Answer begun = new Answer(State.RUNNING).setProgress("{\"done\": 0, \"total\": 1}");
    answers.put(invocation, begun);
    starts++;
    boolean reports = starts % 2 == 0;
    long began = System.currentTimeMillis();
    long takes = 200 + Math.floorMod(start.getNode().hashCode(), 400);
    work.schedule(() -> end(start, began, reports), takes, TimeUnit.MILLISECONDS);
    if (starts % 10 == 0) {
      System.out.println("lost an answer");
      throw new TTransportException("this answer is lost on purpose");
    }
    return begun;
  }

  @Override
  public synchronized Answer poll(String invocation, String said) throws TException {
    if (!knows(said)) {
      throw new TApplicationException("another secret is wanted");
    }
    Answer known = answers.get(invocation);
    if (known == null) {
      refused.add(invocation);
      return new Answer(State.NOT_FOUND).setMessage("it never came");
    }
    return known;
  }

  @Override
  public Answer cancel(String invocation, String said) throws TException {
    return poll(invocation, said); // It is over in a moment anyway.
  }

  private boolean knows(String said) {
    byte[] other = (said == null ? "" : said).getBytes(StandardCharsets.UTF_8);
    return MessageDigest.isEqual(secret, other);
  }

  private void end(Start start, long began, boolean reports) {
    String status = "{\"result\": \"done\", \"data\": {\"node\": \"" + start.getNode() + "\"}}";
    synchronized (this) {
      answers.put(start.getInvocation(), new Answer(State.ENDED).setStatus(status));
      log.println(start.getNode() + " " + began + " " + System.currentTimeMillis());
    }
    if (reports && !start.getCallback().isEmpty()) {
      report(start.getCallback(), status);
    }
  }

  private void report(String url, String status) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(5))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(status))
            .build();
    try {
      int answer = http.send(request, BodyHandlers.discarding()).statusCode();
      System.out.println((answer == 200 ? "reported " : "not reported ") + answer);
    } catch (IOException e) {
      // Nobody listens any more: it will be asked about.
      System.out.println("not reported " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] args) throws IOException, TException {
    TSSLTransportParameters tls = new TSSLTransportParameters();
    tls.setKeyStore(args[1], args[2], null, "PKCS12");
    String secret = Files.readString(Path.of(args[3])).strip();
    PrintStream log = new PrintStream(Files.newOutputStream(Path.of(args[0])), true);
    TServerSocket listener =
        TSSLTransportFactory.getServerSocket(0, 0, InetAddress.getLoopbackAddress(), tls);
    System.out.println("listening on " + listener.getServerSocket().getLocalPort());
    new TThreadPoolServer(
            new TThreadPoolServer.Args(listener)
                .processor(new Agent.Processor<>(new HostAgent(log, secret)))
                .transportFactory(new TFramedTransport.Factory(65_536)))
        .serve();
  }
}
