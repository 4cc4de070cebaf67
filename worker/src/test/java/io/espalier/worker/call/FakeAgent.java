package io.espalier.worker.call;

import io.espalier.testkit.running.CallClientContract.Behaviour;
import io.espalier.testkit.tls.Authority;
import io.espalier.thrift.rpc.Pem;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLServerSocket;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.jspecify.annotations.Nullable;

/** An agent on a real socket that behaves as it is told; it serves one connection at a time. */
final class FakeAgent implements AutoCloseable {
  private final List<Request> seen = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final ServerSocket server;
  private volatile @Nullable Behaviour behaviour;

  /** What an agent was asked. */
  record Request(TMessage message, String secret) {}

  FakeAgent(ServerSocket server) {
    this.server = server;
    Thread thread = new Thread(this::serve, "agent");
    thread.setDaemon(true);
    thread.start();
  }

  /** Listens in the clear. */
  static ServerSocket plain() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Listens with TLS.
   *
   * @param clients the authority of which clients must have a certificate; null: they need none
   */
  static ServerSocket tls(String address, Authority.Member own, @Nullable Path clients)
      throws IOException {
    SSLServerSocket server =
        (SSLServerSocket)
            Pem.context(
                    Pem.keys(own.certificate(), own.key()),
                    clients == null ? null : Pem.trust(clients))
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getByName(address));
    server.setNeedClientAuth(clients != null);
    return server;
  }

  int port() {
    return server.getLocalPort();
  }

  void behaves(Behaviour now) {
    behaviour = now;
  }

  List<Request> requests() {
    return seen;
  }

  private void serve() {
    while (!server.isClosed()) {
      try {
        serve(server.accept());
      } catch (IOException | TException e) {
        // The test is over, or the client has gone.
      }
    }
  }

  private void serve(Socket from) throws IOException, TException {
    open.add(from);
    Request request;
    try {
      DataInputStream in = new DataInputStream(from.getInputStream());
      request = request(in.readNBytes(in.readInt()));
    } catch (IOException e) {
      from.close();
      throw e;
    }
    seen.add(request);
    Behaviour now = behaviour;
    if (now == null || now == Behaviour.IS_SILENT) {
      return;
    }
    DataOutputStream out = new DataOutputStream(from.getOutputStream());
    switch (now) {
      case LOSES_THE_CONNECTION -> {
        // Nothing is written.
      }
      case ANSWERS_GARBAGE -> {
        out.writeInt(4);
        out.writeInt(0x7fffffff);
      }
      case ANSWERS_TOO_MUCH -> out.writeInt(10 << 20);
      default -> {
        byte[] answer = answer(request.message(), now);
        out.writeInt(answer.length);
        out.write(answer);
      }
    }
    from.close();
  }

  private static Request request(byte[] frame) throws TException {
    TProtocol in = new TBinaryProtocol(new TMemoryInputTransport(frame));
    TMessage message = in.readMessageBegin();
    String secret = "";
    in.readStructBegin();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      if (field.id == 2) {
        secret = in.readString();
      } else {
        TProtocolUtil.skip(in, field.type);
      }
    }
    return new Request(message, secret);
  }

  private static byte[] answer(TMessage request, Behaviour behaviour) throws TException {
    TMemoryBuffer buffer = new TMemoryBuffer(256);
    TProtocol out = new TBinaryProtocol(buffer);
    out.writeMessageBegin(new TMessage(request.name, TMessageType.REPLY, request.seqid));
    out.writeFieldBegin(new TField("success", TType.STRUCT, (short) 0));
    out.writeFieldBegin(new TField("state", TType.I32, (short) 1));
    out.writeI32(
        switch (behaviour) {
          case GOES_ON -> 1;
          case ENDS -> 2;
          case CANCELS -> 3;
          case FAILS -> 4;
          case REFUSES -> 5;
          default -> 6;
        });
    text(out, 2, "{\"result\": \"incomplete\"}");
    text(out, 3, "{\"done\": 1}");
    text(out, 4, "no space");
    out.writeFieldBegin(new TField("retry_after_ms", TType.I64, (short) 5));
    out.writeI64(7_000);
    text(out, 99, "what a later release may add");
    out.writeFieldStop();
    out.writeFieldStop();
    return Arrays.copyOf(buffer.getArray(), buffer.length());
  }

  private static void text(TProtocol out, int id, String text) throws TException {
    out.writeFieldBegin(new TField("", TType.STRING, (short) id));
    out.writeString(text);
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket each : open) {
      each.close();
    }
  }
}
