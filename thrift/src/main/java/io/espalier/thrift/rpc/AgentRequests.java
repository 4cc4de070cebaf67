package io.espalier.thrift.rpc;

import io.espalier.core.problem.Causes;
import io.espalier.thrift.wire.AgentMessages;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to agents ({@code agent.thrift}), each over a connection of its own: connects,
 * writes one frame, reads one, and closes. A frame is a length of four bytes and that many bytes.
 * Requests in flight need no thread. Thread-safe.
 */
public final class AgentRequests implements AutoCloseable {
  private static final Duration LONGEST_HANDSHAKE = Duration.ofSeconds(10);

  private final EventLoopGroup threads = RpcChannels.threads("agent-requests", 1);

  /**
   * Sends a request.
   *
   * @param to resolved; its host name is compared with the certificate of the agent
   * @param tls what is trusted; null: nothing is encrypted
   * @param maySend asked right before the first byte of the request is sent, on another thread
   * @return the frame that comes back; fails with {@link NotSent} when the agent has not got the
   *     request, and otherwise with whatever went wrong
   */
  public CompletableFuture<byte[]> send(
      InetSocketAddress to,
      byte[] frame,
      Duration within,
      @Nullable SSLContext tls,
      BooleanSupplier maySend) {
    Exchange exchange = new Exchange(to, frame, tls != null, maySend);
    Duration handshake = within.compareTo(LONGEST_HANDSHAKE) < 0 ? within : LONGEST_HANDSHAKE;
    ChannelFuture connecting =
        new Bootstrap()
            .group(threads)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(within.toMillis()))
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    if (tls != null) {
                      SslHandler end = new SslHandler(engine(tls, to));
                      end.setHandshakeTimeoutMillis(handshake.toMillis());
                      channel.pipeline().addLast(end);
                    }
                    channel.pipeline().addLast(new Answers(), exchange);
                  }
                })
            .connect(to);
    var unused =
        connecting.addListener(
            done -> {
              if (!done.isSuccess()) {
                exchange.fail(done.cause());
              }
            });
    return exchange
        .answer
        .orTimeout(within.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete((read, failure) -> close(connecting.channel()))
        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(exchange.meant(failure)));
  }

  private static void close(Channel channel) {
    var unused = channel.close();
  }

  private static SSLEngine engine(SSLContext tls, InetSocketAddress to) {
    SSLEngine engine = tls.createSSLEngine(to.getHostString(), to.getPort());
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    return engine;
  }

  /** Ends the threads; requests that are open fail. */
  @Override
  public void close() {
    RpcChannels.end(threads);
  }

  /** The failure of a request that the agent has not got; the cause is what went wrong. */
  public static final class NotSent extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean isForbidden;

    NotSent(String message, @Nullable Throwable cause, boolean isForbidden) {
      super(message, cause);
      this.isForbidden = isForbidden;
    }

    /** Returns whether the sender itself might not send it any more. */
    public boolean isForbidden() {
      return isForbidden;
    }
  }

  /** The frames that come back. */
  private static final class Answers extends LengthFieldBasedFrameDecoder {
    private static final int TLS_ALERT = 0x1503;

    Answers() {
      super(AgentMessages.MAX_BYTES + Integer.BYTES, 0, Integer.BYTES, 0, Integer.BYTES);
    }

    @Override
    protected long getUnadjustedFrameLength(ByteBuf in, int offset, int length, ByteOrder order) {
      long bytes = super.getUnadjustedFrameLength(in, offset, length, order);
      if (bytes >>> Short.SIZE == TLS_ALERT) {
        throw new SpeaksTlsException();
      }
      if (bytes < 1 || bytes > AgentMessages.MAX_BYTES) {
        throw new CorruptedFrameException("an answer of " + bytes + " bytes");
      }
      return bytes;
    }
  }

  /** With an alert of TLS an agent answers what it could not read: the request had no effect. */
  private static final class SpeaksTlsException extends DecoderException {
    private static final long serialVersionUID = 1;
  }

  /** One request and its answer; confined to the thread of its connection. */
  private static final class Exchange extends SimpleChannelInboundHandler<ByteBuf> {
    final CompletableFuture<byte[]> answer = new CompletableFuture<>();
    private final InetSocketAddress to;
    private final byte[] frame;
    private final boolean isTls;
    private final BooleanSupplier maySend;
    private volatile boolean connected;
    private volatile boolean sent;

    Exchange(InetSocketAddress to, byte[] frame, boolean isTls, BooleanSupplier maySend) {
      this.to = to;
      this.frame = frame;
      this.isTls = isTls;
      this.maySend = maySend;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      connected = true;
      if (!isTls) {
        begin(context);
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake) {
        if (handshake.isSuccess()) {
          begin(context);
        } else {
          fail(handshake.cause());
        }
      }
    }

    private void begin(ChannelHandlerContext context) {
      // The caller has got another answer by now.
      if (answer.isDone()) {
        return;
      }
      if (!maySend.getAsBoolean()) {
        fail(new NotSent("the worker may not send it any more", null, true));
        return;
      }
      sent = true;
      ByteBuf out = context.alloc().buffer(Integer.BYTES + frame.length);
      var unused =
          context
              .writeAndFlush(out.writeInt(frame.length).writeBytes(frame))
              .addListener(
                  written -> {
                    if (!written.isSuccess()) {
                      fail(written.cause());
                    }
                  });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      answer.complete(ByteBufUtil.getBytes(bytes));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
      Throwable cause = failure.getCause();
      fail(failure instanceof DecoderException && cause != null ? cause : failure);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      fail(new EOFException("the connection was closed"));
    }

    void fail(Throwable failure) {
      answer.completeExceptionally(failure);
    }

    /** Returns what a failure means for the request. */
    Throwable meant(Throwable failure) {
      Throwable cause = Causes.of(failure);
      if (cause instanceof NotSent) {
        return cause;
      }
      if (cause instanceof SpeaksTlsException) {
        return new NotSent("the agent speaks TLS: set \"tls\"", cause, false);
      }
      if (sent && !isTls && cause instanceof IOException) {
        return new IOException(
            cause.getMessage() + " (if the agent speaks TLS, set \"tls\")", cause);
      }
      // An agent that refuses our certificate says so only after we have sent, and reads nothing.
      return sent && !(cause instanceof SSLHandshakeException)
          ? cause
          : new NotSent(
              connected
                  ? "the agent does not answer the TLS handshake"
                  : "cannot connect to " + to.getHostString() + ":" + to.getPort(),
              cause,
              false);
    }
  }
}
