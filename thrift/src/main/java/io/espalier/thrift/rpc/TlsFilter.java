package io.espalier.thrift.rpc;

import java.nio.ByteBuffer;
import java.util.Deque;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The server's end of TLS over a non-blocking connection. */
final class TlsFilter {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SSLEngine engine;
  private ByteBuffer incoming;
  private boolean fresh;

  TlsFilter(SSLEngine engine) {
    this.engine = engine;
    this.incoming = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    incoming.flip();
  }

  /** Adds bytes from the network. */
  void received(ByteBuffer bytes) {
    ByteBuffer all =
        ByteBuffer.allocate(
            Math.max(
                incoming.remaining() + bytes.remaining(),
                engine.getSession().getPacketBufferSize()));
    all.put(incoming).put(bytes).flip();
    incoming = all;
    fresh = true;
  }

  /** Returns whether there are bytes that have not been decoded since the last answer. */
  boolean hasUndecoded() {
    return incoming.hasRemaining() && fresh;
  }

  /**
   * Continues until there is data for the application, or no more progress is possible now.
   *
   * @param out receives the bytes to send to the peer
   * @return decrypted data of the peer; null when more bytes, or {@link #needsWork}, must come
   *     first
   */
  @Nullable ByteBuffer unwrap(Deque<ByteBuffer> out) throws SSLException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> {
          return null;
        }
        case NEED_WRAP -> {
          ByteBuffer packet = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
          SSLEngineResult result = engine.wrap(NOTHING, packet);
          packet.flip();
          if (packet.hasRemaining()) {
            out.add(packet);
          }
          if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
            return null;
          }
        }
        default -> {
          ByteBuffer plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
          SSLEngineResult result = engine.unwrap(incoming, plain);
          plain.flip();
          if (plain.hasRemaining()) {
            return plain;
          }
          if (result.getStatus() != SSLEngineResult.Status.OK) {
            fresh = false;
            return null;
          }
          if (result.bytesConsumed() == 0
              && result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING) {
            fresh = false;
            return null;
          }
        }
      }
    }
  }

  boolean needsWork() {
    return engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK;
  }

  /** Runs the pending computations, on any thread, while no other method is called. */
  void work() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  boolean isClosed() {
    return engine.isInboundDone();
  }

  /** Encrypts all the data. */
  void wrap(ByteBuffer plain, Deque<ByteBuffer> out) throws SSLException {
    while (plain.hasRemaining()) {
      ByteBuffer packet = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
      SSLEngineResult result = engine.wrap(plain, packet);
      packet.flip();
      out.add(packet);
      if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
        throw new SSLException("the peer has ended TLS");
      }
    }
  }
}
