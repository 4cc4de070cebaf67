package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallClient;
import io.espalier.core.json.Json;
import io.espalier.testkit.running.CallClientContract;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Calls over Thrift keep the contract, against an agent on a real socket. */
class ThriftCallsContractTest extends CallClientContract {
  private final List<TMessage> seen = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final ServerSocket server = listening();
  private volatile @Nullable Behaviour behaviour;

  private static ServerSocket listening() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Override
  protected CallClient create() {
    Thread agent =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try {
                  serve(server.accept());
                } catch (IOException | TException e) {
                  // The test is over, or the client has gone.
                }
              }
            },
            "agent");
    agent.setDaemon(true);
    agent.start();
    return new ThriftCalls();
  }

  private void serve(Socket from) throws IOException, TException {
    open.add(from);
    DataInputStream in = new DataInputStream(from.getInputStream());
    byte[] frame = in.readNBytes(in.readInt());
    TMessage request = new TBinaryProtocol(new TMemoryInputTransport(frame)).readMessageBegin();
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
        byte[] answer = answer(request, now);
        out.writeInt(answer.length);
        out.write(answer);
      }
    }
    from.close();
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

  @AfterEach
  void eachRequestIsForOneMethod() {
    assertThat(seen)
        .allMatch(
            request ->
                request.type == TMessageType.CALL
                    && List.of("start", "poll", "cancel").contains(request.name));
  }

  @Override
  protected void behaves(Behaviour now) {
    behaviour = now;
  }

  @Override
  protected int requests() {
    return seen.size();
  }

  private static Json.Obj options(int port) {
    return Json.object().put("host", "127.0.0.1").put("port", port).put("timeout_sec", 1).build();
  }

  @Override
  protected Json.Obj options() {
    return options(server.getLocalPort());
  }

  @Override
  protected Json.Obj optionsOfNobody() {
    return options(1);
  }

  @Override
  protected Json.Obj wrongOptions() {
    return Json.object().put("host", "a b").put("port", 1).build();
  }

  @Override
  protected void stop() throws IOException {
    server.close();
    for (Socket each : open) {
      each.close();
    }
  }
}
