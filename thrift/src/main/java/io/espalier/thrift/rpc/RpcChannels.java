package io.espalier.thrift.rpc;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What the channels of servers and clients have in common. */
final class RpcChannels {
  private RpcChannels() {}

  /** Returns threads that serve any number of connections. */
  static EventLoopGroup threads(String name, int count) {
    return new MultiThreadIoEventLoopGroup(
        count, new DefaultThreadFactory(name, true), NioIoHandler.newFactory());
  }

  /** Ends the threads; connections are closed, and nothing waits for it. */
  static void end(EventLoopGroup threads) {
    var unused = threads.shutdownGracefully(0, 1_000, TimeUnit.MILLISECONDS);
  }

  /** Builds the pipeline of a connection: TLS, frames, time limits, calls. */
  static void build(
      Channel channel, @Nullable SslHandler tls, RpcLimits limits, RpcConnection connection) {
    if (tls != null) {
      channel.pipeline().addLast(tls);
    }
    channel
        .pipeline()
        .addLast(
            new RpcFrames(limits),
            new IdleStateHandler(0, 0, limits.idleMillis(), TimeUnit.MILLISECONDS),
            new WriteTimeoutHandler(limits.frameMillis(), TimeUnit.MILLISECONDS),
            connection);
  }
}
