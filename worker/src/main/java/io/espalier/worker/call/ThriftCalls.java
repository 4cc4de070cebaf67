package io.espalier.worker.call;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.keys.CallKeys;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.HttpCall;
import io.espalier.core.config.task.ThriftCall;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Call;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls of agents over Thrift ({@code agent.thrift}, docs/calls.md#calls-over-thrift): framed
 * transport, binary protocol, in the clear, one request per connection. A request in flight needs a
 * connection, but no thread.
 */
public final class ThriftCalls implements CallClient {
  private static final int THREADS = 2;
  private static final int DEEPEST = 16;

  private final Map<Json.Obj, ThriftCall> options = new ConcurrentHashMap<>();
  private @Nullable ExecutorService threads;

  /** Writes the arguments of a method, without their end. */
  @FunctionalInterface
  private interface Arguments {
    void write(TProtocol out) throws TException;
  }

  @Override
  public String executor() {
    return CallKeys.THRIFT_EXECUTOR;
  }

  private ThriftCall of(Call call) {
    return options.computeIfAbsent(
        call.spec().options(), json -> CallKeys.read(CallKeys.THRIFT, json));
  }

  @Override
  public String description(Call call) {
    ThriftCall thrift = of(call);
    return "Thrift " + UrlTemplate.host(thrift.host(), call) + ":" + thrift.port();
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
        call,
        "start",
        out -> {
          out.writeFieldBegin(new TField("start", TType.STRUCT, (short) 1));
          text(out, 1, call.name(CallSpec.INVOCATION));
          text(out, 2, call.name(CallSpec.JOB));
          text(out, 3, call.name(CallSpec.NODE));
          text(out, 4, call.name(CallSpec.TOKEN));
          out.writeFieldBegin(new TField("attempt", TType.I32, (short) 5));
          out.writeI32(Integer.parseInt(call.name(CallSpec.ATTEMPT)));
          text(out, 6, JsonWriter.compact(argument));
          text(out, 7, call.spec().idempotent() ? call.name(CallSpec.KEY) : "");
          text(out, 8, call.name(CallSpec.CALLBACK));
          out.writeFieldStop();
        },
        maySend);
  }

  @Override
  public CompletionStage<CallAnswer> poll(Call call, String handle) {
    return request(call, "poll", out -> text(out, 1, call.name(CallSpec.INVOCATION)), () -> true);
  }

  @Override
  public CompletionStage<CallAnswer> cancel(Call call, String handle) {
    return request(call, "cancel", out -> text(out, 1, call.name(CallSpec.INVOCATION)), () -> true);
  }

  private static void text(TProtocol out, int id, String text) throws TException {
    out.writeFieldBegin(new TField("", TType.STRING, (short) id));
    out.writeString(text);
  }

  private CompletionStage<CallAnswer> request(
      Call call, String method, Arguments arguments, BooleanSupplier maySend) {
    ThriftCall thrift = of(call);
    // Looking up the name of a host blocks.
    return CompletableFuture.supplyAsync(
            () -> new InetSocketAddress(UrlTemplate.host(thrift.host(), call), thrift.port()),
            pool())
        .thenCompose(to -> sent(to, encoded(method, arguments), thrift, maySend))
        .handle(
            (frame, failure) -> failure == null ? decoded(frame, method) : failed(cause(failure)));
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

  private static byte[] encoded(String method, Arguments arguments) {
    try {
      TMemoryBuffer buffer = new TMemoryBuffer(512);
      TProtocol out = new TBinaryProtocol(buffer);
      out.writeMessageBegin(new TMessage(method, TMessageType.CALL, 1));
      arguments.write(out);
      out.writeFieldStop();
      out.writeMessageEnd();
      if (buffer.length() > FramedRequest.MAX_BYTES) {
        throw new IllegalArgumentException(
            "the request has more than " + FramedRequest.MAX_BYTES + " bytes");
      }
      return Arrays.copyOf(buffer.getArray(), buffer.length());
    } catch (TException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }

  // ---- what an answer means

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static CallAnswer failed(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    if (failure instanceof FramedRequest.NotSentException notSent) {
      return new CallAnswer.NotStarted(message, notSent.mayBeSentLater ? 1 : 0);
    }
    // Before it is sent, nothing else fails but the making of the request.
    return failure instanceof IllegalArgumentException || failure instanceof UncheckedIOException
        ? new CallAnswer.NotStarted(message, 0)
        : new CallAnswer.Unknown(
            failure instanceof TimeoutException ? "no answer in time" : "no answer: " + message);
  }

  private static CallAnswer decoded(byte[] frame, String method) {
    try {
      TProtocol in =
          new TBinaryProtocol(
              new TMemoryInputTransport(frame), frame.length, frame.length, true, true);
      TMessage message = in.readMessageBegin();
      if (message.type == TMessageType.EXCEPTION) {
        return new CallAnswer.Unknown(
            "the agent has failed: " + TApplicationException.readFrom(in).getMessage());
      }
      if (message.type != TMessageType.REPLY || !message.name.equals(method)) {
        return new CallAnswer.Unknown("the answer is not one to \"" + method + "\"");
      }
      in.readStructBegin();
      for (TField field = in.readFieldBegin();
          field.type != TType.STOP;
          field = in.readFieldBegin()) {
        if (field.id == 0 && field.type == TType.STRUCT) {
          return answer(in);
        }
        TProtocolUtil.skip(in, field.type, DEEPEST);
      }
      return new CallAnswer.Unknown("the answer is empty");
    } catch (TException | RuntimeException e) {
      return new CallAnswer.Unknown("the answer cannot be read: " + e.getMessage());
    }
  }

  private static CallAnswer answer(TProtocol in) throws TException {
    int state = 0;
    String status = "";
    String progress = "";
    String message = "";
    long retryAfterMillis = 0;
    in.readStructBegin();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      if (field.id == 1 && field.type == TType.I32) {
        state = in.readI32();
      } else if (field.id == 2 && field.type == TType.STRING) {
        status = in.readString();
      } else if (field.id == 3 && field.type == TType.STRING) {
        progress = in.readString();
      } else if (field.id == 4 && field.type == TType.STRING) {
        message = in.readString();
      } else if (field.id == 5 && field.type == TType.I64) {
        retryAfterMillis = in.readI64();
      } else {
        TProtocolUtil.skip(in, field.type, DEEPEST);
      }
    }
    return switch (state) {
      case 1 ->
          JsonReader.strict().read(progress).value() instanceof Json.Obj said
              ? new CallAnswer.Running("", said)
              : CallAnswer.Running.PLAIN;
      case 2 -> new CallAnswer.Ended(status.isBlank() ? CallAnswer.DONE : status.strip());
      case 3 -> new CallAnswer.Cancelled();
      case 4 -> new CallAnswer.Failed(message);
      case 5 -> new CallAnswer.NotStarted(message, Math.max(0, retryAfterMillis));
      case 6 -> new CallAnswer.NotFound(message);
      default -> new CallAnswer.Unknown("the answer has the state " + state);
    };
  }

  @Override
  public synchronized void close() {
    if (threads != null) {
      threads.shutdown();
    }
  }
}
