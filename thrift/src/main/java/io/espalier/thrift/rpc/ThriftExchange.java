package io.espalier.thrift.rpc;

import io.espalier.core.protocol.Versions;
import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.gen.RefusalCode;
import io.espalier.thrift.gen.Refused;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server's end of one connection: first the greeting, then calls. */
final class ThriftExchange implements ConnectionHandler {
  private static final Logger log = LoggerFactory.getLogger(ThriftExchange.class);
  private static final int RECURSION = 16;

  private final PeerRole role;
  private final PeerOptions options;
  private final ProtocolHandlers methods;
  private final InetSocketAddress peer;
  private volatile boolean greeted;

  ThriftExchange(
      PeerRole role, PeerOptions options, ProtocolHandlers methods, InetSocketAddress peer) {
    this.role = role;
    this.options = options;
    this.methods = methods;
    this.peer = peer;
  }

  @Override
  public CompletionStage<Answer> answer(byte[] request) {
    TMessage message;
    TProtocol in;
    try {
      TConfiguration bounds = new TConfiguration(request.length, request.length, RECURSION);
      in = new TCompactProtocol(new TMemoryInputTransport(bounds, request), request.length, -1);
      message = in.readMessageBegin();
    } catch (TException | RuntimeException e) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException("what it sent is not of the worker protocol"));
    }
    try {
      if (message.type != TMessageType.CALL) {
        throw new TApplicationException(
            TApplicationException.INVALID_MESSAGE_TYPE, "only calls are answered");
      }
      if (message.name.equals("greet")) {
        return CompletableFuture.completedFuture(greet(in, message));
      }
      if (!greeted) {
        return CompletableFuture.completedFuture(
            reply(
                message,
                new TApplicationException(
                    TApplicationException.UNKNOWN_METHOD,
                    "the first call of a connection is greet"),
                true));
      }
      ProtocolHandlers.Method<?> method = methods.get(message.name);
      if (method == null) {
        return CompletableFuture.completedFuture(
            reply(
                message,
                new TApplicationException(
                    TApplicationException.UNKNOWN_METHOD, "no such call: " + message.name),
                false));
      }
      return call(method, in, message);
    } catch (TException | RuntimeException e) {
      // The peer learns of this: an unreadable message has no effect.
      return CompletableFuture.completedFuture(
          reply(
              message,
              new TApplicationException(
                  TApplicationException.PROTOCOL_ERROR, "cannot read it: " + e.getMessage()),
              true));
    }
  }

  private <A extends TBase<A, ?>> CompletionStage<Answer> call(
      ProtocolHandlers.Method<A> method, TProtocol in, TMessage message) throws TException {
    A arguments = method.arguments();
    arguments.read(in);
    in.readMessageEnd();
    return method
        .call(arguments)
        .handle(
            (result, failure) -> {
              if (failure == null) {
                return reply(message, result);
              }
              log.warn("{} of {} failed", message.name, peer, failure);
              return reply(
                  message,
                  new TApplicationException(
                      TApplicationException.INTERNAL_ERROR, String.valueOf(failure.getMessage())),
                  false);
            });
  }

  private Answer greet(TProtocol in, TMessage message) throws TException {
    Peer.greet_args arguments = new Peer.greet_args();
    arguments.read(in);
    in.readMessageEnd();
    Peer.greet_result result = new Peer.greet_result();
    Greeting greeting = arguments.getGreeting();
    Refused refused =
        greeting == null
            ? new Refused(RefusalCode.BAD_MESSAGE, "an empty greeting")
            : objection(greeting);
    if (greeting == null || refused != null) {
      log.warn("{} is refused: {}", peer, refused == null ? "nothing said" : refused.getMessage());
      result.setRefused(refused);
      return new Answer(encode(message, TMessageType.REPLY, result), false, true);
    }
    greeted = true;
    int version = options.protocol().common(range(greeting)).orElse(0);
    result.setSuccess(new Greeted(version, options.program()));
    return new Answer(encode(message, TMessageType.REPLY, result), true, false);
  }

  private static Versions range(Greeting greeting) {
    if (greeting.getOldestProtocol() < 1
        || greeting.getNewestProtocol() < greeting.getOldestProtocol()) {
      throw new IllegalArgumentException("no range");
    }
    return new Versions(greeting.getOldestProtocol(), greeting.getNewestProtocol());
  }

  private @org.jspecify.annotations.Nullable Refused objection(Greeting greeting) {
    // An unauthenticated peer learns nothing except that it was rejected.
    if (!options.security().accepts(greeting.getToken())) {
      return new Refused(
          RefusalCode.WRONG_TOKEN,
          greeting.getToken() == null
              ? "a token is needed here: give --token-file"
              : "the token is not the one of this " + role.word());
    }
    if (!role.word().equals(greeting.getCallee())) {
      return new Refused(
          RefusalCode.OTHER_ROLE, "this is a " + role.word() + ", not a " + greeting.getCallee());
    }
    Versions theirs;
    try {
      theirs = range(greeting);
    } catch (IllegalArgumentException e) {
      return new Refused(RefusalCode.BAD_MESSAGE, "its protocol versions are " + e.getMessage());
    }
    if (options.protocol().common(theirs).isEmpty()) {
      return new Refused(
          RefusalCode.OTHER_PROTOCOL,
          "this "
              + role.word()
              + " ("
              + options.program()
              + ") speaks protocol "
              + options.protocol()
              + ", the caller ("
              + greeting.getProgram()
              + ") speaks "
              + theirs
              + ": releases may be one apart");
    }
    return null;
  }

  private Answer reply(TMessage message, TBase<?, ?> result) {
    ByteBuffer frame = encode(message, TMessageType.REPLY, result);
    if (frame.remaining() > options.limits().maxFrameBytes()) {
      return reply(
          message,
          new TApplicationException(
              TApplicationException.INTERNAL_ERROR,
              "the answer would have " + frame.remaining() + " bytes, more than fit in a frame"),
          false);
    }
    return new Answer(frame, true, false);
  }

  private Answer reply(TMessage message, TApplicationException failure, boolean last) {
    return new Answer(encode(message, TMessageType.EXCEPTION, failure), greeted, last);
  }

  private static ByteBuffer encode(
      TMessage message, byte type, org.apache.thrift.TSerializable content) {
    try {
      TMemoryBuffer buffer = new TMemoryBuffer(256);
      TProtocol out = new TCompactProtocol(buffer);
      out.writeMessageBegin(new TMessage(message.name, type, message.seqid));
      content.write(out);
      out.writeMessageEnd();
      return ByteBuffer.wrap(buffer.getArray(), 0, buffer.length());
    } catch (TException e) {
      throw new IllegalStateException("writing into memory", e);
    }
  }
}
