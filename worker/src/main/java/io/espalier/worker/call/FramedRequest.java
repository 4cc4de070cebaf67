package io.espalier.worker.call;

import io.espalier.thrift.wire.AgentMessages;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * One request over a connection of its own: connects, writes one frame, reads one, and closes. A
 * frame is a length of four bytes and that many bytes. It waits without a thread.
 */
final class FramedRequest {
  private final AsynchronousSocketChannel channel;
  private final ByteBuffer out;
  private final BooleanSupplier maySend;
  private final CompletableFuture<byte[]> answer = new CompletableFuture<>();
  private volatile boolean sent;

  /** The failure of a request of which no byte was sent. */
  static final class NotSentException extends IOException {
    private static final long serialVersionUID = 1;

    final boolean mayBeSentLater;

    NotSentException(String message, boolean mayBeSentLater) {
      super(message);
      this.mayBeSentLater = mayBeSentLater;
    }
  }

  private FramedRequest(AsynchronousSocketChannel channel, byte[] frame, BooleanSupplier maySend) {
    this.channel = channel;
    this.maySend = maySend;
    this.out = ByteBuffer.allocate(Integer.BYTES + frame.length);
    out.putInt(frame.length).put(frame).flip();
  }

  /**
   * Sends a frame.
   *
   * @param maySend asked right before the first byte is sent
   * @return the frame that comes back; fails with {@link NotSentException} when nothing was sent,
   *     and otherwise with whatever went wrong
   */
  static CompletableFuture<byte[]> send(
      InetSocketAddress to, byte[] frame, Duration within, BooleanSupplier maySend)
      throws IOException {
    AsynchronousSocketChannel channel = AsynchronousSocketChannel.open();
    FramedRequest request = new FramedRequest(channel, frame, maySend);
    CompletableFuture<byte[]> outcome =
        request
            .answer
            .orTimeout(within.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete((read, failure) -> request.close());
    channel.connect(to, null, request.then(connected -> request.begin()));
    return outcome.exceptionallyCompose(
        failure -> {
          Throwable cause = failure.getCause() == null ? failure : failure.getCause();
          return CompletableFuture.failedFuture(
              request.sent || cause instanceof NotSentException
                  ? cause
                  : new NotSentException("cannot connect", false));
        });
  }

  private void begin() {
    if (!maySend.getAsBoolean()) {
      fail(new NotSentException("the worker may not send it any more", true));
      return;
    }
    sent = true;
    write();
  }

  private void write() {
    if (out.hasRemaining()) {
      channel.write(out, null, then(written -> write()));
    } else {
      read(ByteBuffer.allocate(Integer.BYTES), head -> body(head.getInt()));
    }
  }

  private void body(int length) {
    if (length < 1 || length > AgentMessages.MAX_BYTES) {
      fail(new IOException("an answer of " + (length & 0xffffffffL) + " bytes"));
      return;
    }
    byte[] frame = new byte[length];
    read(ByteBuffer.wrap(frame), whole -> answer.complete(frame));
  }

  /** Fills a buffer. */
  private void read(ByteBuffer in, Consumer<ByteBuffer> whole) {
    channel.read(
        in,
        null,
        then(
            (Integer count) -> {
              if (count < 0) {
                fail(new EOFException("the connection was closed"));
              } else if (in.hasRemaining()) {
                read(in, whole);
              } else {
                whole.accept(in.flip());
              }
            }));
  }

  private <V> CompletionHandler<V, Object> then(Consumer<V> next) {
    return new CompletionHandler<>() {
      @Override
      public void completed(V result, Object nothing) {
        try {
          next.accept(result);
        } catch (RuntimeException e) {
          fail(e);
        }
      }

      @Override
      public void failed(Throwable failure, Object nothing) {
        fail(failure);
      }
    };
  }

  private void fail(Throwable failure) {
    answer.completeExceptionally(failure);
  }

  private void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing is left to be lost.
    }
  }
}
