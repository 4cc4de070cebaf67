package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.rpc.RpcException.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.WriteTimeoutException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializable;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection. The side that opened it greets; then both sides may call each other, several
 * calls at a time, if they speak version {@link #BOTH_WAYS} or later, otherwise only the side that
 * opened it. An answer belongs to the call with its sequence id. When the connection ends, all open
 * calls fail at once.
 *
 * <p>State is confined to the connection's event loop; {@link #call}, {@link #refuse} and {@link
 * #close} are for any thread.
 */
final class RpcConnection extends SimpleChannelInboundHandler<byte[]> implements AutoCloseable {
  /** The first protocol version in which the side that accepted a connection may call. */
  static final int BOTH_WAYS = 2;

  private static final Logger log = LoggerFactory.getLogger(RpcConnection.class);
  private static final int RECURSION = 16;

  /**
   * Reading pauses while so many calls of a peer that opened the connection have no answer. On the
   * other side calls must never keep answers from being read: what a scheduler asks of a worker is
   * bounded where it is handled.
   */
  private static final int MOST_OPEN = 64;

  /** Reading pauses while so many bytes of answers wait for the peer to read them. */
  private static final int MOST_UNREAD = 1 << 20;

  private final Channel channel;
  private final String peer;
  private final PeerRole role;
  private final PeerOptions options;
  private final ProtocolHandlers methods;
  private final @Nullable ConnectionCrowd crowd;
  private final Map<Integer, Call> calls = new HashMap<>();
  private @Nullable Future<?> greetLate;
  private int lastCall;
  private int open;
  private long unread;
  private boolean greeted;
  private boolean closed;
  private volatile int protocol;
  private volatile long usedNanos = System.nanoTime();
  private volatile boolean inUse;

  /** A call of this side that has no answer yet. */
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
   * @param role what this side is when the peer calls it
   * @param methods calls that the peer may make
   * @param crowd connections of the server that accepted this one; null when this side opened it
   */
  RpcConnection(
      Channel channel,
      String peer,
      PeerRole role,
      PeerOptions options,
      ProtocolHandlers methods,
      @Nullable ConnectionCrowd crowd) {
    this.channel = channel;
    this.peer = peer;
    this.role = role;
    this.options = options;
    this.methods = methods;
    this.crowd = crowd;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    if (crowd != null) {
      greetLate =
          context
              .executor()
              .schedule(
                  () -> refuse("it does not say who it is"),
                  options.limits().greetMillis(),
                  TimeUnit.MILLISECONDS);
      crowd.opened(this);
    }
  }

  // ---- calls of this side

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
    if (closed || !channel.isActive()) {
      call.fail(Kind.NOT_SENT, "the connection to " + peer + " is closed", null);
      return;
    }
    int number = ++lastCall;
    ByteBuf frame;
    try {
      frame = encode(new TMessage(call.name, TMessageType.CALL, number), arguments.get());
    } catch (RuntimeException | Error e) {
      call.fail(Kind.NOT_SENT, "while writing " + call.name + " for " + peer + ": " + e, e);
      if (e instanceof Error error) {
        throw error;
      }
      return;
    }
    int bytes = frame.readableBytes() - Integer.BYTES;
    if (bytes > options.limits().maxFrameBytes()) {
      frame.release();
      call.fail(
          Kind.NOT_SENT,
          call.name + " for " + peer + " has " + bytes + " bytes, more than fit in a frame",
          null);
      return;
    }
    calls.put(number, call);
    busy();
    call.late =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  tooLate(number);
                  // Half a message would spoil all that follow it.
                  close();
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
      quiet();
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

  private void reply(TProtocol in, TMessage message) {
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
      close();
      if (e instanceof Error error) {
        throw error;
      }
    }
    quiet();
  }

  /**
   * Greets, as the first call of a connection that this side opened.
   *
   * @return future that fails with an {@link RpcException} of kind NOT_SENT or REFUSED
   */
  CompletableFuture<RpcConnection> greet(PeerRole callee, RpcTimeouts bounds) {
    Peer.greet_result result = new Peer.greet_result();
    return call("greet", () -> new Peer.greet_args(Greetings.of(options, callee)), result, bounds)
        .handle(
            (done, failure) -> {
              if (failure != null) {
                throw new CompletionException(
                    new RpcException(
                        Kind.NOT_SENT,
                        failure.getMessage()
                            + (options.security().isTls()
                                ? " (does the other end know our certificate?)"
                                : " (does the other end expect TLS, or speak another protocol?)"),
                        failure));
              }
              Refused refused = result.getRefused();
              if (refused != null) {
                throw new CompletionException(
                    new RpcException(Kind.REFUSED, peer + " refuses us: " + refused.getMessage()));
              }
              Greeted answer = result.getSuccess();
              int version = answer == null ? 0 : answer.getProtocol();
              if (version < options.protocol().oldest() || version > options.protocol().newest()) {
                throw new CompletionException(
                    new RpcException(
                        Kind.REFUSED,
                        peer
                            + " wants to speak protocol "
                            + (answer == null ? "none" : version)
                            + ", we speak "
                            + options.protocol()));
              }
              welcome(version);
              return this;
            });
  }

  private void welcome(int version) {
    protocol = version;
    greeted = true;
    channel.pipeline().get(RpcFrames.class).greeted();
  }

  /** Returns whether the side that accepted the connection may call. */
  boolean isBothWays() {
    return protocol >= BOTH_WAYS;
  }

  /** Returns whether calls can be sent now. */
  boolean isOpen() {
    return channel.isActive();
  }

  /** Returns for how long there was no call, of either side; 0 while one is open. */
  long idleNanos() {
    return inUse ? 0 : System.nanoTime() - usedNanos;
  }

  // ---- calls of the peer

  @Override
  protected void channelRead0(ChannelHandlerContext context, byte[] bytes) {
    TMessage message;
    TProtocol in;
    try {
      TConfiguration bounds = new TConfiguration(bytes.length, bytes.length, RECURSION);
      in = new TCompactProtocol(new TMemoryInputTransport(bounds, bytes), bytes.length, -1);
      message = in.readMessageBegin();
    } catch (TException | RuntimeException e) {
      refuse("what it sent is not of the worker protocol");
      return;
    }
    if (message.type == TMessageType.REPLY || message.type == TMessageType.EXCEPTION) {
      reply(in, message);
    } else {
      request(in, message);
    }
  }

  private void request(TProtocol in, TMessage message) {
    open++;
    busy();
    readOrPause();
    try {
      if (message.type != TMessageType.CALL) {
        throw new TApplicationException(
            TApplicationException.INVALID_MESSAGE_TYPE, "only calls are answered");
      }
      if (message.name.equals("greet") && crowd != null) {
        greet(in, message);
      } else if (!greeted) {
        fail(
            message,
            TApplicationException.UNKNOWN_METHOD,
            "the first call of a connection is greet",
            true);
      } else {
        ProtocolHandlers.Method<?> method = methods.get(message.name);
        if (method == null) {
          fail(
              message,
              TApplicationException.UNKNOWN_METHOD,
              "no such call: " + message.name,
              false);
        } else {
          answer(method, in, message);
        }
      }
    } catch (TException | RuntimeException e) {
      // The peer learns of this: an unreadable message has no effect.
      fail(
          message, TApplicationException.PROTOCOL_ERROR, "cannot read it: " + e.getMessage(), true);
    }
  }

  private <A extends TBase<A, ?>> void answer(
      ProtocolHandlers.Method<A> method, TProtocol in, TMessage message) throws TException {
    A arguments = method.arguments();
    arguments.read(in);
    in.readMessageEnd();
    var unused =
        method
            .call(arguments, this)
            .whenCompleteAsync(
                (result, failure) -> {
                  Throwable problem = failure;
                  if (problem == null) {
                    try {
                      answer(message, result);
                    } catch (RuntimeException e) {
                      problem = e;
                    }
                  }
                  if (problem != null) {
                    log.warn("{} of {} failed", message.name, peer, problem);
                    fail(
                        message,
                        TApplicationException.INTERNAL_ERROR,
                        String.valueOf(problem.getMessage()),
                        false);
                  }
                },
                channel.eventLoop());
  }

  private void greet(TProtocol in, TMessage message) throws TException {
    Peer.greet_args arguments = new Peer.greet_args();
    arguments.read(in);
    in.readMessageEnd();
    Peer.greet_result result = new Peer.greet_result();
    Greeting greeting = arguments.getGreeting();
    Refused refused = Greetings.objection(greeting, role, options);
    if (greeting == null || refused != null) {
      log.warn("{} is refused: {}", peer, refused == null ? "" : refused.getMessage());
      result.setRefused(refused);
      write(encode(new TMessage(message.name, TMessageType.REPLY, message.seqid), result), true);
      return;
    }
    int version = Greetings.version(greeting, options);
    boolean first = !greeted;
    welcome(version);
    if (greetLate != null) {
      greetLate.cancel(false);
    }
    if (first && crowd != null && !crowd.greeted(this)) {
      refuse("there are too many connections, and all of them are at work");
      return;
    }
    result.setSuccess(new Greeted(version, options.program()));
    answer(message, result);
  }

  private void answer(TMessage message, TBase<?, ?> result) {
    ByteBuf frame = encode(new TMessage(message.name, TMessageType.REPLY, message.seqid), result);
    int bytes = frame.readableBytes() - Integer.BYTES;
    if (bytes > options.limits().maxFrameBytes()) {
      frame.release();
      fail(
          message,
          TApplicationException.INTERNAL_ERROR,
          "the answer would have " + bytes + " bytes, more than fit in a frame",
          false);
      return;
    }
    write(frame, false);
  }

  private void fail(TMessage message, int type, String why, boolean last) {
    write(
        encode(
            new TMessage(message.name, TMessageType.EXCEPTION, message.seqid),
            new TApplicationException(type, why)),
        last);
  }

  private void write(ByteBuf frame, boolean last) {
    int bytes = frame.readableBytes();
    unread += bytes;
    readOrPause();
    var unused =
        channel
            .writeAndFlush(frame)
            .addListener(
                written -> {
                  open--;
                  unread -= bytes;
                  if (last) {
                    close();
                    return;
                  }
                  readOrPause();
                  quiet();
                });
  }

  private void readOrPause() {
    channel.config().setAutoRead((crowd == null || open < MOST_OPEN) && unread <= MOST_UNREAD);
  }

  private ByteBuf encode(TMessage message, TSerializable content) {
    try {
      TMemoryBuffer buffer = new TMemoryBuffer(256);
      TProtocol out = new TCompactProtocol(buffer);
      out.writeMessageBegin(message);
      content.write(out);
      out.writeMessageEnd();
      return channel
          .alloc()
          .buffer(Integer.BYTES + buffer.length())
          .writeInt(buffer.length())
          .writeBytes(buffer.getArray(), 0, buffer.length());
    } catch (TException e) {
      throw new IllegalStateException("writing into memory", e);
    }
  }

  // ---- the life of the connection

  private void busy() {
    inUse = true;
    if (crowd != null) {
      crowd.busy(this);
    }
  }

  private void quiet() {
    usedNanos = System.nanoTime();
    inUse = open > 0 || !calls.isEmpty();
    if (crowd != null && greeted && !inUse && !closed) {
      crowd.silent(this);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    if (event instanceof IdleStateEvent) {
      refuse("it has been silent for long");
    } else {
      super.userEventTriggered(context, event);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    Throwable why =
        cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
    if (why instanceof SSLException) {
      refuse("no TLS with a certificate of ours: " + why.getMessage());
    } else if (why instanceof WriteTimeoutException) {
      refuse("it does not read its answer");
    } else if (why instanceof DecoderException) {
      refuse(String.valueOf(why.getMessage()));
    } else if (why instanceof IOException) {
      close();
    } else {
      refuse("of a mistake of ours: " + why);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closed = true;
    if (greetLate != null) {
      greetLate.cancel(false);
    }
    if (crowd != null) {
      crowd.closed(this, greeted);
    }
    List<Call> lost = List.copyOf(calls.values());
    calls.clear();
    lost.forEach(call -> broke(call, null));
  }

  /** Closes the connection and says why in the log. */
  void refuse(String why) {
    if (!channel.isActive()) {
      return;
    }
    if (crowd != null) {
      crowd.complain(this, why);
    } else {
      log.debug("the connection to {} is closed: {}", peer, why);
    }
    close();
  }

  @Override
  public void close() {
    var unused = channel.close();
  }

  @Override
  public String toString() {
    return peer;
  }
}
