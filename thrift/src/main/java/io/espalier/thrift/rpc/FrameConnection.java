package io.espalier.thrift.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One peer of a {@link FrameServer}: reads a request, has it answered, writes the answer, and only
 * then continues reading. Everything happens on the server's thread.
 */
final class FrameConnection {
  private static final int FIRST_PIECE = 1 << 12;

  private final FrameServer server;
  private final SocketChannel channel;
  private final SelectionKey key;
  private final InetSocketAddress peer;
  private final @Nullable TlsFilter tls;
  private final ConnectionHandler exchange;

  private final byte[] header = new byte[4];
  private int headerRead;
  private byte @Nullable [] body;
  private int bodyLength;
  private int bodyRead;

  /** Bytes that were read beyond the request being answered. */
  private @Nullable ByteBuffer ahead;

  private final Deque<ByteBuffer> output = new ArrayDeque<>();
  private boolean answering;
  private boolean tlsWorks;
  private boolean greeted;
  private boolean lastAnswer;
  private boolean closed;
  private long deadlineNanos;
  private String late = "it does not say who it is";

  FrameConnection(
      FrameServer server,
      SocketChannel channel,
      SelectionKey key,
      InetSocketAddress peer,
      @Nullable TlsFilter tls,
      ConnectionHandler exchange) {
    this.server = server;
    this.channel = channel;
    this.key = key;
    this.peer = peer;
    this.tls = tls;
    this.exchange = exchange;
    deadline(server.limits().greetMillis(), late);
  }

  InetSocketAddress peer() {
    return peer;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  String whatIsLate() {
    return late;
  }

  private void deadline(int millis, String what) {
    deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    late = what;
    server.sweepAt(deadlineNanos);
  }

  /** Sets a deadline, except before the greeting, when a single deadline covers everything. */
  private void deadlineOfGreeted(int millis, String what) {
    if (greeted) {
      deadline(millis, what);
    }
  }

  void ready(ByteBuffer shared) {
    try {
      if (key.isValid() && key.isWritable()) {
        flush();
      }
      if (!closed && key.isValid() && key.isReadable()) {
        read(shared);
      }
    } catch (CancelledKeyException e) {
      close();
    } catch (SSLException e) {
      refuse("no TLS with a certificate of ours: " + e.getMessage());
    } catch (IOException e) {
      close();
    } catch (RuntimeException e) {
      refuse("of a mistake of ours: " + e);
    }
  }

  private void read(ByteBuffer shared) throws IOException {
    shared.clear();
    int count = channel.read(shared);
    if (count < 0) {
      close();
      return;
    }
    shared.flip();
    if (tls == null) {
      take(shared);
    } else {
      tls.received(shared);
      pumpTls();
    }
  }

  private void pumpTls() throws IOException {
    TlsFilter filter = tls;
    if (filter == null) {
      return;
    }
    while (!closed && !answering && !tlsWorks) {
      ByteBuffer plain = filter.unwrap(output);
      if (!output.isEmpty()) {
        flush();
      }
      if (closed) {
        return;
      }
      if (filter.needsWork()) {
        interest(0);
        tlsWorks = true;
        try {
          server
              .workers()
              .execute(
                  () -> {
                    filter.work();
                    server.later(() -> guarded(this::afterTlsWork));
                  });
        } catch (RejectedExecutionException e) {
          close();
        }
        return;
      }
      if (filter.isClosed()) {
        close();
        return;
      }
      if (plain == null) {
        return;
      }
      take(plain);
    }
  }

  private void afterTlsWork() throws IOException {
    tlsWorks = false;
    if (!closed) {
      interest(SelectionKey.OP_READ);
      pumpTls();
    }
  }

  private interface Step {
    void run() throws IOException;
  }

  private void guarded(Step step) {
    try {
      step.run();
    } catch (SSLException e) {
      refuse("no TLS with a certificate of ours: " + e.getMessage());
    } catch (IOException | CancelledKeyException e) {
      close();
    }
  }

  private void refuse(String why) {
    server.complain(this, why);
    close();
  }

  /** Accepts bytes until a request is complete. */
  private void take(ByteBuffer bytes) {
    while (bytes.hasRemaining() && !closed) {
      if (answering) {
        ByteBuffer kept = ByteBuffer.allocate(bytes.remaining());
        kept.put(bytes).flip();
        ahead = kept;
        return;
      }
      if (body == null) {
        if (headerRead == 0) {
          deadlineOfGreeted(server.limits().frameMillis(), "it does not finish its request");
        }
        while (headerRead < 4 && bytes.hasRemaining()) {
          header[headerRead++] = bytes.get();
        }
        if (headerRead < 4) {
          return;
        }
        int length = ByteBuffer.wrap(header).getInt();
        int most = greeted ? server.limits().maxFrameBytes() : RpcLimits.GREETING_BYTES;
        if (length < 1 || length > most) {
          refuse(whatTheySpeak(length, most));
          return;
        }
        bodyLength = length;
        bodyRead = 0;
        body = new byte[Math.min(length, FIRST_PIECE)];
      }
      byte[] into = body;
      if (bodyRead == into.length && bodyRead < bodyLength) {
        // The buffer grows with the received bytes, not with the announced length.
        into = Arrays.copyOf(into, (int) Math.min(bodyLength, 2L * into.length));
        body = into;
      }
      int count = Math.min(bytes.remaining(), into.length - bodyRead);
      bytes.get(into, bodyRead, count);
      bodyRead += count;
      if (bodyRead == bodyLength) {
        byte[] request = into;
        body = null;
        headerRead = 0;
        ask(request);
      }
    }
  }

  private String whatTheySpeak(int length, int most) {
    String letters = new String(header, java.nio.charset.StandardCharsets.ISO_8859_1);
    if (letters.equals("GET ") || letters.equals("POST") || letters.equals("HEAD")) {
      return "it speaks HTTP; this is the port of the worker protocol";
    }
    if (header[0] == 0x16 && header[1] == 3) {
      return "it speaks TLS, and TLS is not configured here";
    }
    return "its request would have "
        + Integer.toUnsignedString(length)
        + " bytes, at most "
        + most
        + (greeted ? "" : " before a greeting")
        + " are taken";
  }

  private void ask(byte[] request) {
    answering = true;
    interest(0);
    server.busy(this);
    if (greeted) {
      // The peer is not to blame for our own delay.
      deadline(server.limits().idleMillis(), "there was no answer for it");
    }
    try {
      server.workers().execute(() -> answerOnWorker(request));
    } catch (RejectedExecutionException e) {
      close();
    }
  }

  private void answerOnWorker(byte[] request) {
    try {
      var unused =
          exchange
              .answer(request)
              .whenComplete(
                  (answer, failure) ->
                      server.later(
                          () -> {
                            if (failure != null) {
                              refuse(String.valueOf(failure.getMessage()));
                            } else {
                              guarded(() -> answered(answer));
                            }
                          }));
    } catch (RuntimeException e) {
      server.later(() -> refuse(String.valueOf(e)));
    }
  }

  private void answered(ConnectionHandler.Answer answer) throws IOException {
    if (closed) {
      return;
    }
    if (answer.greeted() && !greeted) {
      greeted = true;
      if (!server.greeted(this)) {
        refuse("there are too many connections, and all of them are at work");
        return;
      }
    }
    lastAnswer = answer.last();
    ByteBuffer frame = answer.frame();
    ByteBuffer bytes = ByteBuffer.allocate(4 + frame.remaining());
    bytes.putInt(frame.remaining()).put(frame).flip();
    if (tls == null) {
      output.add(bytes);
    } else {
      tls.wrap(bytes, output);
    }
    deadlineOfGreeted(server.limits().frameMillis(), "it does not read its answer");
    answering = false;
    flush();
  }

  private void flush() throws IOException {
    while (!output.isEmpty()) {
      ByteBuffer first = output.peek();
      channel.write(first);
      if (first.hasRemaining()) {
        interest(SelectionKey.OP_WRITE);
        return;
      }
      output.remove();
    }
    if (answering || tlsWorks || closed) {
      return;
    }
    if (lastAnswer) {
      close();
      return;
    }
    if (body == null && headerRead == 0) {
      deadlineOfGreeted(server.limits().idleMillis(), "it has been silent for long");
      if (greeted) {
        server.silent(this);
      }
    }
    interest(SelectionKey.OP_READ);
    ByteBuffer more = ahead;
    if (more != null) {
      ahead = null;
      take(more);
    }
    if (tls != null && !answering && !closed && tls.hasUndecoded()) {
      server.later(() -> guarded(this::pumpTls));
    }
  }

  private void interest(int operations) {
    if (key.isValid()) {
      key.interestOps(operations);
    }
  }

  void close() {
    if (closed) {
      return;
    }
    closed = true;
    body = null;
    ahead = null;
    output.clear();
    server.closed(this);
    key.cancel();
    FrameServer.closeQuietly(channel);
  }
}
