package io.espalier.cli.flags;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.RunnerOptions.Remote;
import io.espalier.thrift.rpc.PeerOptions;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags that only a scheduler with remote workers needs. */
public final class RemoteFlags {
  @Option(
      names = "--thrift",
      paramLabel = "HOST:PORT",
      defaultValue = "127.0.0.1:6789",
      description = "Where workers find the scheduler (default ${DEFAULT-VALUE}).")
  private String thrift = "127.0.0.1:6789";

  @Option(
      names = "--safe-wait",
      description =
          "Start nothing until no task of an earlier scheduler can be alive: after the status store"
              + " and every trace of its age were lost.")
  private boolean safeWait;

  @Mixin private final RpcFlags rpc = new RpcFlags();
  @Mixin private final TimerFlags timerFlags = new TimerFlags();

  Remote remote(TlsFlags tls, boolean insecure, List<String> problems) {
    HostPort listen = listen(problems);
    PeerOptions peer = rpc.peer(listen.host(), tls, insecure, problems);
    ProtocolTimers timers = timerFlags.timers(problems);
    return new Remote(listen, peer, timers, safeWait);
  }

  /** Adds what is mistyped, for runners that need none of these flags. */
  void check(List<String> problems) {
    var unusedAddress = listen(problems);
    var unusedTimers = timerFlags.timers(problems);
  }

  private HostPort listen(List<String> problems) {
    try {
      return HostPort.parse(thrift);
    } catch (IllegalArgumentException e) {
      problems.add("--thrift " + thrift + ": " + e.getMessage());
      return new HostPort("127.0.0.1", 6789);
    }
  }
}
