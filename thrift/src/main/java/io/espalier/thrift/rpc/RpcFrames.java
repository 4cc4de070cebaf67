package io.espalier.thrift.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.Future;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializable;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes frames: a length of four bytes, then that many bytes. Memory grows with the
 * received bytes, not with the announced length. A greeted peer must complete a frame in time;
 * before the greeting one time limit covers everything.
 */
final class RpcFrames extends LengthFieldBasedFrameDecoder {
  private static final int LENGTH_BYTES = 4;
  private static final int TLS_HANDSHAKE = 0x1603;

  private final RpcLimits limits;
  private boolean greeted;
  private @Nullable Future<?> late;

  RpcFrames(RpcLimits limits) {
    super(limits.maxFrameBytes() + LENGTH_BYTES, 0, LENGTH_BYTES, 0, LENGTH_BYTES);
    this.limits = limits;
  }

  /** The peer is a member: from now on its messages may be large. */
  void greeted() {
    greeted = true;
  }

  /** Writes a message as a frame. */
  static ByteBuf encode(Channel channel, TMessage message, TSerializable content) {
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

  @Override
  protected long getUnadjustedFrameLength(ByteBuf in, int offset, int length, ByteOrder order) {
    long bytes = super.getUnadjustedFrameLength(in, offset, length, order);
    int most = greeted ? limits.maxFrameBytes() : RpcLimits.GREETING_BYTES;
    if (bytes < 1 || bytes > most) {
      throw new CorruptedFrameException(whatItSpeaks(in, offset, bytes, most));
    }
    return bytes;
  }

  private String whatItSpeaks(ByteBuf in, int offset, long bytes, int most) {
    String letters = in.toString(offset, LENGTH_BYTES, StandardCharsets.ISO_8859_1);
    if (letters.equals("GET ") || letters.equals("POST") || letters.equals("HEAD")) {
      return "it speaks HTTP; this is the port of the worker protocol";
    }
    if (in.getUnsignedShort(offset) == TLS_HANDSHAKE) {
      return "it speaks TLS, and TLS is not configured here";
    }
    return "its request would have "
        + bytes
        + " bytes, at most "
        + most
        + (greeted ? "" : " before a greeting")
        + " are taken";
  }

  @Override
  protected @Nullable Object decode(ChannelHandlerContext context, ByteBuf in) throws Exception {
    Object frame = super.decode(context, in);
    if (frame instanceof ByteBuf bytes) {
      stopWaiting();
      try {
        byte[] message = new byte[bytes.readableBytes()];
        bytes.readBytes(message);
        return message;
      } finally {
        bytes.release();
      }
    }
    if (greeted && late == null && in.isReadable()) {
      waitForTheRest(context);
    }
    return frame;
  }

  private void waitForTheRest(ChannelHandlerContext context) {
    late =
        context
            .executor()
            .schedule(
                () -> {
                  if (context.channel().config().isAutoRead()) {
                    context.fireExceptionCaught(
                        new CorruptedFrameException("it does not finish its request"));
                  } else {
                    // The rest may have arrived: it is this side that does not read at the moment.
                    waitForTheRest(context);
                  }
                },
                limits.frameMillis(),
                TimeUnit.MILLISECONDS);
  }

  private void stopWaiting() {
    if (late != null) {
      late.cancel(false);
      late = null;
    }
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext context) {
    stopWaiting();
  }
}
