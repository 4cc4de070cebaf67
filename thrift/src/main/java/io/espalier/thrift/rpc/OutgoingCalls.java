package io.espalier.thrift.rpc;

import io.espalier.thrift.rpc.RpcException.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of this side of a connection. An answer belongs to the call with its sequence id.
 * Confined to the connection's event loop, except for {@link #call}.
 */
final class OutgoingCalls {
  private static final Logger log = LoggerFactory.getLogger(OutgoingCalls.class);

  private final Channel channel;
  private final String peer;
  private final int maxFrameBytes;
  private final Runnable busy;
  private final Runnable quiet;
  private final Map<Integer, Call> calls = new HashMap<>();
  private int lastCall;

  /** A call that has no answer yet. */
  private static final class Call {
    private final String name;
    private final TBase<?, ?> result;
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private @Nullable Future<?> late;

    Call(String name, TBase<?, ?> result) {
      this.name = name;
      this.result = result;
    }

    void end() {
      if (late != null) {
        late.cancel(false);
      }
    }

    void fail(Kind kind, String why, @Nullable Throwable cause) {
      end();
      answered.completeExceptionally(
          cause == null ? new RpcException(kind, why) : new RpcException(kind, why, cause));
    }
  }

  /**
   * @param peer the address of the peer, for people
   * @param busy called when a call begins
   * @param quiet called when a call has ended, unless the connection has
   */
  OutgoingCalls(Channel channel, String peer, int maxFrameBytes, Runnable busy, Runnable quiet) {
    this.channel = channel;
    this.peer = peer;
    this.maxFrameBytes = maxFrameBytes;
    this.busy = busy;
    this.quiet = quiet;
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /**
   * Calls the peer.
   *
   * @param arguments creates the arguments, on the event loop
   * @param result structure to fill
   * @return future that completes on the event loop; a failure is an {@link RpcException}
   */
  CompletableFuture<Void> call(
      String name,
      Supplier<? extends TBase<?, ?>> arguments,
      TBase<?, ?> result,
      RpcTimeouts bounds) {
    Call call = new Call(name, result);
    try {
      channel.eventLoop().execute(() -> send(call, arguments, bounds));
    } catch (RejectedExecutionException e) {
      call.fail(Kind.NOT_SENT, "shutting down", e);
    }
    return call.answered;
  }

  private void send(Call call, Supplier<? extends TBase<?, ?>> arguments, RpcTimeouts bounds) {
    if (!channel.isActive()) {
      call.fail(Kind.NOT_SENT, "the connection to " + peer + " is closed", null);
      return;
    }
    int number = ++lastCall;
    ByteBuf frame;
    try {
      frame =
          RpcFrames.encode(
              channel, new TMessage(call.name, TMessageType.CALL, number), arguments.get());
    } catch (RuntimeException | Error e) {
      call.fail(Kind.NOT_SENT, "while writing " + call.name + " for " + peer + ": " + e, e);
      if (e instanceof Error error) {
        throw error;
      }
      return;
    }
    int bytes = frame.readableBytes() - Integer.BYTES;
    if (bytes > maxFrameBytes) {
      frame.release();
      call.fail(
          Kind.NOT_SENT,
          call.name + " for " + peer + " has " + bytes + " bytes, more than fit in a frame",
          null);
      return;
    }
    calls.put(number, call);
    busy.run();
    call.late =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  tooLate(number);
                  // Half a message would spoil all that follow it.
                  var unused = channel.close();
                },
                bounds.sendMillis(),
                TimeUnit.MILLISECONDS);
    var unused =
        channel
            .writeAndFlush(frame)
            .addListener(
                sent -> {
                  if (!calls.containsKey(number)) {
                    return;
                  }
                  call.end();
                  if (sent.isSuccess()) {
                    call.late =
                        channel
                            .eventLoop()
                            .schedule(
                                () -> tooLate(number),
                                bounds.receiveMillis(),
                                TimeUnit.MILLISECONDS);
                  } else {
                    calls.remove(number);
                    broke(call, sent.cause());
                  }
                });
  }

  private void tooLate(int number) {
    Call call = calls.remove(number);
    if (call != null) {
      call.fail(Kind.UNKNOWN, peer + " did not answer " + call.name + " in time", null);
      quiet.run();
    }
  }

  private void broke(Call call, @Nullable Throwable cause) {
    call.fail(
        Kind.UNKNOWN,
        "the connection to "
            + peer
            + " broke: "
            + (cause == null ? "it ended" : cause.getMessage()),
        cause);
  }

  /** Ends the call that the peer answers. */
  void reply(TProtocol in, TMessage message) {
    Call call = calls.remove(message.seqid);
    if (call == null) {
      log.debug("{} answers {} too late", peer, message.name);
      return;
    }
    try {
      if (message.type == TMessageType.EXCEPTION) {
        TApplicationException failure = new TApplicationException();
        failure.read(in);
        boolean unread =
            failure.getType() == TApplicationException.UNKNOWN_METHOD
                || failure.getType() == TApplicationException.PROTOCOL_ERROR;
        call.fail(
            unread ? Kind.REFUSED : Kind.UNKNOWN, peer + ": " + failure.getMessage(), failure);
      } else {
        call.result.read(in);
        call.end();
        call.answered.complete(null);
      }
    } catch (TException | RuntimeException | Error e) {
      broke(call, e);
      var unused = channel.close();
      if (e instanceof Error error) {
        throw error;
      }
    }
    quiet.run();
  }

  /** The connection has ended: all open calls fail at once. */
  void lost() {
    List<Call> lost = List.copyOf(calls.values());
    calls.clear();
    lost.forEach(call -> broke(call, null));
  }
}
