package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.rpc.RpcException.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.WriteTimeoutException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
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

  private final Channel channel;
  private final String peer;
  private final PeerRole role;
  private final PeerOptions options;
  private final @Nullable ConnectionCrowd crowd;
  private final OutgoingCalls outgoing;
  private final IncomingCalls incoming;
  private @Nullable Future<?> greetLate;
  private boolean greeted;
  private boolean closed;
  private volatile int protocol;
  private volatile long usedNanos = System.nanoTime();
  private volatile boolean inUse;

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
    this.crowd = crowd;
    int maxFrameBytes = options.limits().maxFrameBytes();
    this.outgoing = new OutgoingCalls(channel, peer, maxFrameBytes, this::busy, this::quiet);
    this.incoming =
        new IncomingCalls(this, channel, methods, maxFrameBytes, crowd != null, this::quiet);
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

  // ---- calls and the greeting

  /** Calls the peer, as {@link OutgoingCalls#call} says. */
  CompletableFuture<Void> call(
      String name,
      Supplier<? extends TBase<?, ?>> arguments,
      TBase<?, ?> result,
      RpcTimeouts bounds) {
    return outgoing.call(name, arguments, result, bounds);
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
      outgoing.reply(in, message);
    } else {
      request(in, message);
    }
  }

  private void request(TProtocol in, TMessage message) {
    busy();
    incoming.begin();
    try {
      if (message.type != TMessageType.CALL) {
        throw new TApplicationException(
            TApplicationException.INVALID_MESSAGE_TYPE, "only calls are answered");
      }
      if (message.name.equals("greet") && crowd != null) {
        greet(in, message);
      } else if (greeted) {
        incoming.carryOut(in, message);
      } else {
        incoming.fail(
            message,
            TApplicationException.UNKNOWN_METHOD,
            "the first call of a connection is greet",
            true);
      }
    } catch (TException | RuntimeException e) {
      // The peer learns of this: an unreadable message has no effect.
      incoming.fail(
          message, TApplicationException.PROTOCOL_ERROR, "cannot read it: " + e.getMessage(), true);
    }
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
      incoming.answer(message, result, true);
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
    incoming.answer(message, result, false);
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
    inUse = !incoming.isEmpty() || !outgoing.isEmpty();
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
    outgoing.lost();
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
