package io.espalier.thrift.rpc;

import io.espalier.thrift.gen.Greeted;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.Peer;
import io.espalier.thrift.gen.Refused;
import io.espalier.thrift.rpc.RpcException.Kind;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.TServiceClient;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.jspecify.annotations.Nullable;

/**
 * The caller's end of a connection. It handles one call at a time, from one thread at a time, and
 * cannot be used after a failure.
 *
 * <p>In Java a write to a peer that does not read has no time-out, and a read has one only per
 * piece: a timer that closes the socket limits both.
 */
final class RpcConnection implements AutoCloseable {
  private static final int RECURSION = 16;

  private final String address;
  private final Socket socket;
  private final Caller caller;
  private final ScheduledExecutorService timer;
  private final int protocol;
  private final String program;
  private volatile boolean late;
  private boolean broken;

  private static final class Caller extends TServiceClient {
    Caller(TCompactProtocol protocol) {
      super(protocol);
    }

    void send(String name, TBase<?, ?> arguments) throws TException {
      sendBase(name, arguments);
    }

    void receive(String name, TBase<?, ?> result) throws TException {
      receiveBase(result, name);
    }
  }

  private RpcConnection(
      String address,
      Socket socket,
      Caller caller,
      ScheduledExecutorService timer,
      @Nullable Greeted greeted) {
    this.address = address;
    this.socket = socket;
    this.caller = caller;
    this.timer = timer;
    this.protocol = greeted == null ? 0 : greeted.getProtocol();
    this.program = greeted == null ? "" : String.valueOf(greeted.getProgram());
  }

  /**
   * Connects and greets.
   *
   * @param timer runs the timer that closes a connection after its time limit
   * @throws RpcException of kind NOT_SENT or REFUSED, naming the address
   */
  static RpcConnection open(
      InetSocketAddress to,
      PeerRole callee,
      PeerOptions us,
      RpcTimeouts bounds,
      ScheduledExecutorService timer)
      throws RpcException {
    String address = to.getHostString() + ":" + to.getPort();
    if (to.isUnresolved()) {
      throw new RpcException(Kind.NOT_SENT, "unknown host " + to.getHostString());
    }
    Socket plain = new Socket();
    boolean open = false;
    try {
      plain.setTcpNoDelay(true);
      plain.setKeepAlive(true);
      plain.connect(to, bounds.connectMillis());
      Socket socket = plain;
      SSLContext tls = us.security().tls();
      if (tls != null) {
        plain.setSoTimeout(bounds.receiveMillis());
        SSLSocket secured =
            (SSLSocket)
                tls.getSocketFactory().createSocket(plain, to.getHostString(), to.getPort(), true);
        Future<?> bound =
            timer.schedule(
                () -> FrameServer.closeQuietly(plain),
                bounds.receiveMillis(),
                TimeUnit.MILLISECONDS);
        try {
          secured.startHandshake();
        } catch (IOException e) {
          throw new RpcException(
              Kind.NOT_SENT,
              "no TLS connection to "
                  + address
                  + ", which must speak TLS too and have a certificate of the same authority: "
                  + e.getMessage(),
              e);
        }
        bound.cancel(false);
        plain.setSoTimeout(0);
        socket = secured;
      }
      RpcConnection connection = greeted(address, socket, callee, us, bounds, timer);
      open = true;
      return connection;
    } catch (RpcException e) {
      throw e;
    } catch (SSLException e) {
      throw new RpcException(
          Kind.NOT_SENT,
          "cannot reach " + address + " by TLS: " + e.getMessage() + " (is it spoken there?)",
          e);
    } catch (IOException | TTransportException e) {
      throw new RpcException(Kind.NOT_SENT, "cannot reach " + address + ": " + e.getMessage(), e);
    } finally {
      if (!open) {
        FrameServer.closeQuietly(plain);
      }
    }
  }

  private static RpcConnection greeted(
      String address,
      Socket socket,
      PeerRole callee,
      PeerOptions us,
      RpcTimeouts bounds,
      ScheduledExecutorService timer)
      throws IOException, TTransportException {
    int most = us.limits().maxFrameBytes();
    TConfiguration sizes = new TConfiguration(most, most, RECURSION);
    Caller caller =
        new Caller(
            new TCompactProtocol(
                new TFramedTransport(
                    new TIOStreamTransport(
                        sizes,
                        new BufferedInputStream(socket.getInputStream(), 1 << 14),
                        new BufferedOutputStream(socket.getOutputStream(), 1 << 14)),
                    most),
                most,
                -1));
    Greeting greeting =
        new Greeting(us.protocol().oldest(), us.protocol().newest(), us.program(), callee.word());
    greeting.setToken(us.security().secretText());
    RpcConnection first = new RpcConnection(address, socket, caller, timer, null);
    Peer.greet_result result = new Peer.greet_result();
    try {
      first.call("greet", new Peer.greet_args(greeting), result, bounds);
    } catch (RpcException e) {
      // The request has not been sent.
      throw new RpcException(
          Kind.NOT_SENT,
          e.getMessage()
              + (us.security().tls() == null
                  ? " (does the other end expect TLS, or speak another protocol?)"
                  : " (does the other end know our certificate?)"),
          e);
    }
    Refused refused = result.getRefused();
    if (refused != null) {
      throw new RpcException(Kind.REFUSED, address + " refuses us: " + refused.getMessage());
    }
    Greeted greeted = result.getSuccess();
    if (greeted == null
        || greeted.getProtocol() < us.protocol().oldest()
        || greeted.getProtocol() > us.protocol().newest()) {
      throw new RpcException(
          Kind.REFUSED,
          address
              + " wants to speak protocol "
              + (greeted == null ? "none" : greeted.getProtocol())
              + ", we speak "
              + us.protocol());
    }
    return new RpcConnection(address, socket, caller, timer, greeted);
  }

  /** Returns the protocol version that both sides use. */
  int protocol() {
    return protocol;
  }

  /** Returns the program name and version that the peer sent. */
  String program() {
    return program;
  }

  boolean isBroken() {
    return broken;
  }

  /**
   * @param result structure to fill
   * @throws RpcException of kind UNKNOWN, or REFUSED when the peer reports that it could not read
   *     the request
   */
  void call(String name, TBase<?, ?> arguments, TBase<?, ?> result, RpcTimeouts bounds)
      throws RpcException {
    if (broken) {
      throw new IllegalStateException("broken before");
    }
    Future<?> watch = timer.schedule(this::tooLate, bounds.sendMillis(), TimeUnit.MILLISECONDS);
    boolean whole = false;
    try {
      caller.send(name, arguments);
      watch.cancel(false);
      watch = timer.schedule(this::tooLate, bounds.receiveMillis(), TimeUnit.MILLISECONDS);
      caller.receive(name, result);
      whole = true;
    } catch (TApplicationException e) {
      boolean unread =
          e.getType() == TApplicationException.UNKNOWN_METHOD
              || e.getType() == TApplicationException.PROTOCOL_ERROR;
      throw new RpcException(
          unread ? Kind.REFUSED : Kind.UNKNOWN, address + ": " + e.getMessage(), e);
    } catch (TException | RuntimeException e) {
      throw new RpcException(
          Kind.UNKNOWN,
          late
              ? address + " did not answer " + name + " in time"
              : "the connection to " + address + " broke: " + e.getMessage(),
          e);
    } finally {
      watch.cancel(false);
      if (!whole) {
        broken = true;
        close();
      }
    }
  }

  private void tooLate() {
    late = true;
    FrameServer.closeQuietly(socket);
  }

  @Override
  public void close() {
    broken = true;
    FrameServer.closeQuietly(socket);
  }
}
