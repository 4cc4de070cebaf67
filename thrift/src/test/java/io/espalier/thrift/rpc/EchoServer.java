package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A worker that knows one call: it sends a text back. */
final class EchoServer implements AutoCloseable {
  private final RpcServer server;

  private EchoServer(RpcServer server) {
    this.server = server;
  }

  static EchoServer start(PeerOptions options) throws IOException {
    return start(options, CompletableFuture::completedFuture);
  }

  static EchoServer start(PeerOptions options, Function<String, CompletionStage<String>> answer)
      throws IOException {
    return start(options, methods((text, from) -> answer.apply(text)));
  }

  /**
   * @param callers receives the connection of each call
   */
  static EchoServer start(PeerOptions options, Queue<RpcConnection> callers) throws IOException {
    return start(
        options,
        methods(
            (text, from) -> {
              callers.add(from);
              return CompletableFuture.completedFuture(text);
            }));
  }

  private static EchoServer start(PeerOptions options, ProtocolHandlers methods)
      throws IOException {
    return new EchoServer(
        RpcServer.start(
            PeerRole.WORKER,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            options,
            methods));
  }

  static ProtocolHandlers methods(Function<String, CompletionStage<String>> answer) {
    return methods((text, from) -> answer.apply(text));
  }

  private static ProtocolHandlers methods(
      BiFunction<String, RpcConnection, CompletionStage<String>> answer) {
    return new ProtocolHandlers()
        .add(
            "echo",
            Peer.greet_args::new,
            (arguments, from) -> answer.apply(program(arguments), from),
            text -> {
              Peer.greet_result result = new Peer.greet_result();
              result.setSuccess(new Greeted(1, text));
              return result;
            },
            refused -> {
              Peer.greet_result result = new Peer.greet_result();
              result.setRefused(refused);
              return result;
            });
  }

  private static String program(Peer.greet_args arguments) {
    Greeting greeting = arguments.getGreeting();
    return greeting == null || greeting.getProgram() == null ? "" : greeting.getProgram();
  }

  InetSocketAddress address() {
    return server.address();
  }

  static String echo(RpcClients clients, InetSocketAddress to, String text) throws RpcException {
    return echo(clients, to, text, clients.options().timeouts());
  }

  static String echo(RpcClients clients, InetSocketAddress to, String text, RpcTimeouts bounds)
      throws RpcException {
    Peer.greet_result result = new Peer.greet_result();
    clients.call(to, "echo", new Peer.greet_args(new Greeting(1, 1, text, "")), result, bounds);
    return Objects.requireNonNull(Objects.requireNonNull(result.getSuccess()).getProgram());
  }

  static CompletableFuture<Void> echo(
      RpcConnection connection, String text, Peer.greet_result result) {
    return connection.call(
        "echo",
        () -> new Peer.greet_args(new Greeting(1, 1, text, "")),
        result,
        RpcTimeouts.DEFAULT.withReceive(20_000));
  }

  /** Makes a call that nobody knows. */
  static CompletableFuture<Void> unknown(RpcConnection connection) {
    return connection.call(
        "unknown", Peer.greet_args::new, new Peer.greet_result(), RpcTimeouts.DEFAULT);
  }

  @Override
  public void close() {
    server.close();
  }
}
