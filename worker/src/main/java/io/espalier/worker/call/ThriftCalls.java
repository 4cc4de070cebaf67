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
import io.espalier.thrift.wire.AgentMessages;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls of agents over Thrift ({@code agent.thrift}, docs/calls.md#calls-over-thrift): framed
 * transport, binary protocol, in the clear, one request per connection. A request in flight needs a
 * connection, but no thread.
 */
public final class ThriftCalls implements CallClient {
  private static final int THREADS = 2;

  private final KnownOptions<ThriftCall> options =
      new KnownOptions<>(json -> CallKeys.read(CallKeys.THRIFT, json));
  private @Nullable ExecutorService threads;

  @Override
  public String executor() {
    return CallKeys.THRIFT_EXECUTOR;
  }

  private ThriftCall of(Call call) {
    return options.of(call.spec().options());
  }

  @Override
  public String description(Call call) {
    return "Thrift " + service(call);
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
    return request(call, AgentMessages.START, () -> AgentMessages.start(call, argument), maySend);
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
    return request(call, method, () -> AgentMessages.question(call, method), () -> true);
  }

  private CompletionStage<CallAnswer> request(
      Call call, String method, Supplier<byte[]> message, BooleanSupplier maySend) {
    ThriftCall thrift = of(call);
    // Looking up the name of a host blocks.
    return CompletableFuture.supplyAsync(
            () -> new InetSocketAddress(UrlTemplate.host(thrift.host(), call), thrift.port()),
            pool())
        .thenCompose(to -> sent(to, message.get(), thrift, maySend))
        .handle(
            (frame, failure) ->
                failure == null
                    ? AgentMessages.answer(frame, method, JsonReader::parse)
                    : failed(Causes.of(failure)));
  }

  private static CompletableFuture<byte[]> sent(
      InetSocketAddress to, byte[] frame, ThriftCall thrift, BooleanSupplier maySend) {
    try {
      if (to.isUnresolved()) {
        throw new FramedRequest.NotSentException("no such host: " + to.getHostString(), false);
      }
      return FramedRequest.send(to, frame, thrift.timeout(), maySend);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private synchronized ExecutorService pool() {
    ExecutorService pool = threads;
    if (pool == null) {
      pool =
          Executors.newFixedThreadPool(
              THREADS,
              task -> {
                Thread thread = new Thread(task, "thrift-calls");
                thread.setDaemon(true);
                return thread;
              });
      threads = pool;
    }
    return pool;
  }

  // ---- what an answer means

  private static CallAnswer failed(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    if (failure instanceof FramedRequest.NotSentException notSent) {
      return new CallAnswer.NotStarted(message, notSent.mayBeSentLater ? 1 : 0);
    }
    // Before it is sent, nothing else fails but the making of the request.
    return failure instanceof IllegalArgumentException
        ? new CallAnswer.NotStarted(message, 0)
        : new CallAnswer.Unknown(
            failure instanceof TimeoutException ? "no answer in time" : "no answer: " + message);
  }

  @Override
  public synchronized void close() {
    if (threads != null) {
      threads.shutdown();
    }
  }
}
