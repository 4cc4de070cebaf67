package io.espalier.thrift.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of the peer, and what is not read from it while it has too many of them open, or leaves
 * too many answers unread. Confined to the connection's event loop.
 */
final class IncomingCalls {
  private static final Logger log = LoggerFactory.getLogger(IncomingCalls.class);

  /**
   * Reading pauses while so many calls of a peer that opened the connection have no answer. On the
   * other side calls must never keep answers from being read: what a scheduler asks of a worker is
   * bounded where it is handled.
   */
  private static final int MOST_OPEN = 64;

  /** Reading pauses while so many bytes of answers wait for the peer to read them. */
  private static final int MOST_UNREAD = 1 << 20;

  private final RpcConnection connection;
  private final Channel channel;
  private final ProtocolHandlers methods;
  private final int maxFrameBytes;
  private final int mostOpen;
  private final Runnable quiet;
  private int open;
  private long unread;

  /**
   * @param accepted whether the peer has opened the connection
   * @param quiet called when an answer is written
   */
  IncomingCalls(
      RpcConnection connection,
      Channel channel,
      ProtocolHandlers methods,
      int maxFrameBytes,
      boolean accepted,
      Runnable quiet) {
    this.connection = connection;
    this.channel = channel;
    this.methods = methods;
    this.maxFrameBytes = maxFrameBytes;
    this.mostOpen = accepted ? MOST_OPEN : Integer.MAX_VALUE;
    this.quiet = quiet;
  }

  boolean isEmpty() {
    return open == 0;
  }

  /** A call has arrived; exactly one answer or failure must follow. */
  void begin() {
    open++;
    readOrPause();
  }

  /** Carries out a call, and answers it. */
  void carryOut(TProtocol in, TMessage message) throws TException {
    ProtocolHandlers.Method<?> method = methods.get(message.name);
    if (method == null) {
      fail(message, TApplicationException.UNKNOWN_METHOD, "no such call: " + message.name, false);
    } else {
      carryOut(method, in, message);
    }
  }

  private <A extends TBase<A, ?>> void carryOut(
      ProtocolHandlers.Method<A> method, TProtocol in, TMessage message) throws TException {
    A arguments = method.arguments();
    arguments.read(in);
    in.readMessageEnd();
    var unused =
        method
            .call(arguments, connection)
            .whenCompleteAsync(
                (result, failure) -> {
                  Throwable problem = failure;
                  if (problem == null) {
                    try {
                      answer(message, result, false);
                    } catch (RuntimeException e) {
                      problem = e;
                    }
                  }
                  if (problem != null) {
                    log.warn("{} of {} failed", message.name, connection, problem);
                    fail(
                        message,
                        TApplicationException.INTERNAL_ERROR,
                        String.valueOf(problem.getMessage()),
                        false);
                  }
                },
                channel.eventLoop());
  }

  /**
   * @param last whether the connection ends with this answer
   */
  void answer(TMessage message, TBase<?, ?> result, boolean last) {
    ByteBuf frame =
        RpcFrames.encode(
            channel, new TMessage(message.name, TMessageType.REPLY, message.seqid), result);
    int bytes = frame.readableBytes() - Integer.BYTES;
    if (bytes > maxFrameBytes) {
      frame.release();
      fail(
          message,
          TApplicationException.INTERNAL_ERROR,
          "the answer would have " + bytes + " bytes, more than fit in a frame",
          false);
      return;
    }
    write(frame, last);
  }

  /**
   * @param last whether the connection ends with this answer
   */
  void fail(TMessage message, int type, String why, boolean last) {
    write(
        RpcFrames.encode(
            channel,
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
                    var unusedClose = channel.close();
                    return;
                  }
                  readOrPause();
                  quiet.run();
                });
  }

  private void readOrPause() {
    channel.config().setAutoRead(open < mostOpen && unread <= MOST_UNREAD);
  }
}
