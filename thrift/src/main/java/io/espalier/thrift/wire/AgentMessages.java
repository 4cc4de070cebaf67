package io.espalier.thrift.wire;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Call;
import io.espalier.core.status.JsonDecoder;
import java.util.Arrays;
import org.apache.thrift.TApplicationException;
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

/** The messages of {@code agent.thrift}, which agents understand, without their frames. */
public final class AgentMessages {
  private static final long MOST_RETRY_AFTER_MILLIS = 86_400_000;
  public static final String START = "start";
  public static final String POLL = "poll";
  public static final String CANCEL = "cancel";

  /** A longer message is neither sent nor read. */
  public static final int MAX_BYTES = 64 * 1024;

  private static final int DEEPEST = 16;

  private AgentMessages() {}

  /** Writes the arguments of a method, without their end. */
  @FunctionalInterface
  private interface Arguments {
    void write(TProtocol out) throws TException;
  }

  /**
   * Returns the request that starts a call.
   *
   * @param secret tells the agent who calls; empty: it is not sent
   * @throws IllegalArgumentException when it is too long
   */
  public static byte[] start(Call call, Json.Obj argument, String secret) {
    return encoded(
        START,
        out -> {
          out.writeFieldBegin(new TField("start", TType.STRUCT, (short) 1));
          text(out, 1, call.name(CallSpec.INVOCATION));
          text(out, 2, call.name(CallSpec.JOB));
          text(out, 3, call.name(CallSpec.NODE));
          text(out, 4, call.name(CallSpec.TOKEN));
          out.writeFieldBegin(new TField("attempt", TType.I32, (short) 5));
          out.writeI32(Integer.parseInt(call.name(CallSpec.ATTEMPT)));
          text(out, 6, JsonWriter.compact(argument));
          text(out, 7, call.spec().idempotent() ? call.name(CallSpec.KEY) : "");
          text(out, 8, call.callback());
          out.writeFieldStop();
          secret(out, secret);
        });
  }

  /**
   * Returns the request that asks about a call, or cancels it.
   *
   * @param secret as in {@link #start}
   */
  public static byte[] question(Call call, String method, String secret) {
    return encoded(
        method,
        out -> {
          text(out, 1, call.name(CallSpec.INVOCATION));
          secret(out, secret);
        });
  }

  private static void secret(TProtocol out, String secret) throws TException {
    if (!secret.isEmpty()) {
      text(out, 2, secret);
    }
  }

  private static void text(TProtocol out, int id, String text) throws TException {
    out.writeFieldBegin(new TField("", TType.STRING, (short) id));
    out.writeString(text);
  }

  private static byte[] encoded(String method, Arguments arguments) {
    try {
      TMemoryBuffer buffer = new TMemoryBuffer(512);
      TProtocol out = new TBinaryProtocol(buffer);
      out.writeMessageBegin(new TMessage(method, TMessageType.CALL, 1));
      arguments.write(out);
      out.writeFieldStop();
      out.writeMessageEnd();
      if (buffer.length() > MAX_BYTES) {
        throw new IllegalArgumentException("the request has more than " + MAX_BYTES + " bytes");
      }
      return Arrays.copyOf(buffer.getArray(), buffer.length());
    } catch (TException e) {
      throw new IllegalStateException("writing into memory", e);
    }
  }

  /**
   * Reads an answer; one that cannot be read is an unknown outcome.
   *
   * @param json parses JSON text of agents
   */
  public static CallAnswer answer(byte[] frame, String method, JsonDecoder json) {
    try {
      TProtocol in =
          new TBinaryProtocol(
              new TMemoryInputTransport(frame), frame.length, frame.length, true, true);
      TMessage message = in.readMessageBegin();
      if (message.type == TMessageType.EXCEPTION) {
        return new CallAnswer.Unknown(
            "the agent has failed: " + TApplicationException.readFrom(in).getMessage());
      }
      if (message.type != TMessageType.REPLY || !message.name.equals(method)) {
        return new CallAnswer.Unknown("the answer is not one to \"" + method + "\"");
      }
      in.readStructBegin();
      for (TField field = in.readFieldBegin();
          field.type != TType.STOP;
          field = in.readFieldBegin()) {
        if (field.id == 0 && field.type == TType.STRUCT) {
          return answer(in, json);
        }
        TProtocolUtil.skip(in, field.type, DEEPEST);
      }
      return new CallAnswer.Unknown("the answer is empty");
    } catch (TException | RuntimeException e) {
      return new CallAnswer.Unknown("the answer cannot be read: " + e.getMessage());
    }
  }

  private static CallAnswer answer(TProtocol in, JsonDecoder json) throws TException {
    int state = 0;
    String status = "";
    String progress = "";
    String message = "";
    long retryAfterMillis = 0;
    in.readStructBegin();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      if (field.id == 1 && field.type == TType.I32) {
        state = in.readI32();
      } else if (field.id == 2 && field.type == TType.STRING) {
        status = in.readString();
      } else if (field.id == 3 && field.type == TType.STRING) {
        progress = in.readString();
      } else if (field.id == 4 && field.type == TType.STRING) {
        message = in.readString();
      } else if (field.id == 5 && field.type == TType.I64) {
        retryAfterMillis = in.readI64();
      } else {
        TProtocolUtil.skip(in, field.type, DEEPEST);
      }
    }
    return switch (state) {
      case 1 ->
          json.read(progress).value() instanceof Json.Obj said
              ? new CallAnswer.Running("", said)
              : CallAnswer.Running.PLAIN;
      case 2 -> new CallAnswer.Ended(status.isBlank() ? CallAnswer.DONE : status.strip());
      case 3 -> new CallAnswer.Cancelled();
      case 4 -> new CallAnswer.Failed(message);
      case 5 ->
          new CallAnswer.NotStarted(
              message, Math.max(0, Math.min(MOST_RETRY_AFTER_MILLIS, retryAfterMillis)));
      case 6 -> new CallAnswer.NotFound(message);
      default -> new CallAnswer.Unknown("the answer has the state " + state);
    };
  }
}
