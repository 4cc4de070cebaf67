package io.espalier.worker.call;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.keys.CallKeys;
import io.espalier.core.config.task.HttpCall;
import io.espalier.core.config.task.ThriftCall;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Causes;
import io.espalier.core.running.Call;
import io.espalier.json.JsonReader;
import io.espalier.thrift.rpc.AgentRequests;
import io.espalier.thrift.wire.AgentMessages;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls of agents over Thrift ({@code agent.thrift}, docs/calls.md#calls-over-thrift): framed
 * transport, binary protocol, in the clear or over TLS, one request per connection. A request in
 * flight needs a connection, but no thread.
 */
public final class ThriftCalls implements CallClient {
  private static final int THREADS = 2;
  private static final int MOST_SECRET = 1_024;

  private final KnownOptions<ThriftCall> options =
      new KnownOptions<>(json -> CallKeys.read(CallKeys.THRIFT, json));
  private final TlsClients<SSLContext> secured = new TlsClients<>(context -> context);
  private @Nullable Connections connections;

  /** What is only needed once a call is made. */
  private record Connections(AgentRequests requests, ExecutorService threads) {
    static Connections open() {
      return new Connections(
          new AgentRequests(),
          Executors.newFixedThreadPool(
              THREADS,
              task -> {
                Thread thread = new Thread(task, "thrift-calls");
                thread.setDaemon(true);
                return thread;
              }));
    }
  }

  @Override
  public String executor() {
    return CallKeys.THRIFT_EXECUTOR;
  }

  private ThriftCall of(Call call) {
    return options.of(call.spec().options());
  }

  @Override
  public String description(Call call) {
    return (of(call).tls().isPresent() ? "Thrift over TLS " : "Thrift ") + service(call);
  }

  @Override
  public String service(Call call) {
    ThriftCall thrift = of(call);
    return UrlTemplate.host(thrift.host(), call) + ":" + thrift.port();
  }

  @Override
  public boolean canPoll(Call call) {
    return true;
  }

  @Override
  public boolean canCancel(Call call) {
    return true;
  }

  @Override
  public PollPace pace(Call call) {
    ThriftCall thrift = of(call);
    return new PollPace(thrift.every().toMillis(), thrift.upTo().toMillis());
  }

  @Override
  public boolean provesAbsence(Call call) {
    return of(call).notFound() == HttpCall.NotFound.NEVER_STARTED;
  }

  @Override
  public CompletionStage<CallAnswer> start(Call call, Json.Obj argument, BooleanSupplier maySend) {
    return request(
        call, AgentMessages.START, secret -> AgentMessages.start(call, argument, secret), maySend);
  }

  @Override
  public CompletionStage<CallAnswer> poll(Call call, String handle) {
    return asked(call, AgentMessages.POLL);
  }

  @Override
  public CompletionStage<CallAnswer> cancel(Call call, String handle) {
    return asked(call, AgentMessages.CANCEL);
  }

  private CompletionStage<CallAnswer> asked(Call call, String method) {
    return request(
        call, method, secret -> AgentMessages.question(call, method, secret), () -> true);
  }

  private CompletionStage<CallAnswer> request(
      Call call, String method, Function<String, byte[]> message, BooleanSupplier maySend) {
    ThriftCall thrift = of(call);
    Connections open = connections();
    // Looking up the name of a host blocks, and so does reading files.
    return CompletableFuture.supplyAsync(() -> built(call, thrift, message), open.threads())
        .thenCompose(
            built ->
                open.requests()
                    .send(built.to, built.frame, thrift.timeout(), built.tls, maySend)
                    .handle(
                        (frame, failure) ->
                            failure == null
                                ? AgentMessages.answer(frame, method, JsonReader::parse)
                                : failed(Causes.of(failure))))
        // Whatever happens once it is sent is an answer: this is what could not be sent.
        .exceptionally(
            failure ->
                new CallAnswer.NotStarted(String.valueOf(Causes.of(failure).getMessage()), 0));
  }

  /** A request and where it goes. */
  private static final class Built {
    final InetSocketAddress to;
    final byte[] frame;
    final @Nullable SSLContext tls;

    Built(InetSocketAddress to, byte[] frame, @Nullable SSLContext tls) {
      this.to = to;
      this.frame = frame;
      this.tls = tls;
    }
  }

  private Built built(Call call, ThriftCall thrift, Function<String, byte[]> message) {
    InetSocketAddress to =
        new InetSocketAddress(UrlTemplate.host(thrift.host(), call), thrift.port());
    if (to.isUnresolved()) {
      throw new IllegalArgumentException("no such host: " + to.getHostString());
    }
    return new Built(
        to,
        message.apply(thrift.secretFile().map(ThriftCalls::secret).orElse("")),
        thrift.tls().map(secured::of).orElse(null));
  }

  private static String secret(String file) {
    String secret;
    try {
      secret = Files.readString(Path.of(file)).strip();
    } catch (IOException e) {
      throw new IllegalArgumentException("the secret cannot be read: " + e, e);
    }
    if (secret.isEmpty() || secret.length() > MOST_SECRET) {
      throw new IllegalArgumentException(
          file + " must hold a secret of 1 to " + MOST_SECRET + " characters");
    }
    return secret;
  }

  private synchronized Connections connections() {
    Connections open = connections == null ? Connections.open() : connections;
    connections = open;
    return open;
  }

  // ---- what an answer means

  private static CallAnswer failed(Throwable failure) {
    if (failure instanceof AgentRequests.NotSent notSent) {
      return new CallAnswer.NotStarted(
          TlsFailures.message(notSent.getCause()).orElse(String.valueOf(notSent.getMessage())),
          notSent.isForbidden() ? 1 : 0);
    }
    return new CallAnswer.Unknown(
        failure instanceof TimeoutException
            ? "no answer in time"
            : "no answer: " + failure.getMessage());
  }

  @Override
  public synchronized void close() {
    Connections open = connections;
    if (open != null) {
      open.requests().close();
      open.threads().shutdown();
    }
  }
}
