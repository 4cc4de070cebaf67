package io.espalier.cli;

import io.espalier.cli.flags.HttpFlags;
import io.espalier.cli.term.DurationConverter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.security.TlsFiles;
import io.espalier.server.ui.UiProcess;
import io.espalier.webui.WebOptions;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.security.MemoryAuditLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code espalier ui}: shows many schedulers as one. */
@Command(
    name = "ui",
    mixinStandardHelpOptions = true,
    description = "Show many schedulers as one: jobs, problems, logs and actions over all of them.",
    footer = {
      "",
      "LIST is HOST:PORT or http(s)://HOST:PORT, with NAME= in front if wanted, separated by"
          + " commas,",
      "semicolons, blanks or line ends. FILE contains such a list, with # before comments, and is"
          + " read",
      "again when it changes.",
      "zk://HOSTS/PATH are the election groups below a path: the present leader of each.",
      "",
      "Schedulers are asked in the background. One that is slow or dead delays nothing: its"
          + " latest",
      "answer is shown with its age. SIGINT and SIGTERM stop it cleanly; exit code 0 then, 2 when"
          + " the",
      "list is wrong or the address cannot be bound.",
      "",
      "EXAMPLES",
      "  espalier ui --schedulers 127.0.0.1:8080,127.0.0.1:8090",
      "  espalier ui --schedulers schedulers.txt --http 127.0.0.1:8081",
      "  espalier ui --schedulers zk://zk1:2181,zk2:2181,zk3:2181/espalier"
    })
final class UiCommand implements Callable<Integer> {
  private static final int AUDIT_ENTRIES = 10_000;
  private static final int LONGEST_MILLIS = 3_600_000;

  @Option(
      names = "--schedulers",
      paramLabel = "LIST|FILE|zk://HOSTS/PATH",
      required = true,
      description = "The schedulers to show.")
  private String schedulers = "";

  @Mixin private final HttpFlags http = new HttpFlags();

  @Option(
      names = "--insecure",
      description = "Allow listening without authentication where others can reach it.")
  private boolean insecure;

  @Option(
      names = "--poll-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "5000",
      description =
          "How often each scheduler is asked (default ${DEFAULT-VALUE}); less often where more than"
              + " 200 would be asked in a second.")
  private int pollMillis = 5_000;

  @Option(
      names = "--connect-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "1000",
      description = "How long to wait for a connection (default ${DEFAULT-VALUE}).")
  private int connectMillis = 1_000;

  @Option(
      names = "--receive-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "7000",
      description = "How long to wait for a whole answer (default ${DEFAULT-VALUE}).")
  private int receiveMillis = 7_000;

  @Option(
      names = "--zookeeper-auth",
      paramLabel = "FILE",
      description =
          "File with account and certificates for ZooKeeper, such as \"digest reader:secret\".")
  private @Nullable Path zooKeeperAuth;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "File with this process's token, one of those in the schedulers' --tokens-file.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description =
          "Certificate chain (PEM) of this process: HTTP is served over TLS, and schedulers that"
              + " want a certificate are shown it.")
  private @Nullable Path tlsCert;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Its key (PEM, PKCS#8).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description =
          "Authority (PEM) that has signed the schedulers' certificates; with --tls-cert people may"
              + " show one of it too.")
  private @Nullable Path tlsCa;

  @Override
  public Integer call() throws InterruptedException {
    List<String> problems = new ArrayList<>();
    bounded("--poll-ms", pollMillis, problems);
    bounded("--connect-ms", connectMillis, problems);
    bounded("--receive-ms", receiveMillis, problems);
    Optional<HostPort> listener = http.listener("127.0.0.1:8081", insecure, problems);
    Optional<TlsFiles> tls =
        tlsCert != null && tlsKey != null
            ? Optional.of(new TlsFiles(tlsCert, tlsKey, Optional.ofNullable(tlsCa)))
            : Optional.empty();
    HttpSecurityOptions access = http.access(tls, problems);
    if (listener.isEmpty() || !problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", problems));
    }
    UiProcess.Options options =
        new UiProcess.Options(
            schedulers,
            Optional.ofNullable(zooKeeperAuth),
            FleetOptions.DEFAULT
                .withTimes(
                    Duration.ofMillis(pollMillis),
                    Duration.ofMillis(connectMillis),
                    Duration.ofMillis(receiveMillis))
                .withAccess(towardsSchedulers()),
            WebOptions.at(listener.get().host(), listener.get().port())
                .withAllowedHosts(access.names(Set.of()))
                .withSecurity(access.open(new MemoryAuditLog(AUDIT_ENTRIES))));
    try (UiProcess process = UiProcess.startUntilSignal(options)) {
      System.err.println("espalier: listening on " + process.uri());
      process.awaitEnd();
      return ExitCode.OK;
    }
  }

  private static void bounded(String flag, int millis, List<String> problems) {
    if (millis < 100 || millis > LONGEST_MILLIS) {
      problems.add(flag + " must be from 100 to " + LONGEST_MILLIS);
    }
  }

  private FleetOptions.Access towardsSchedulers() {
    Optional<Path> ca = Optional.ofNullable(tlsCa);
    Optional<Path> cert = Optional.ofNullable(tlsCert);
    Optional<Path> key = Optional.ofNullable(tlsKey);
    ClientAccess read = ClientAccess.of(Optional.ofNullable(tokenFile), ca, cert, key);
    return new FleetOptions.Access(
        read.authorization().map(value -> value.substring("Bearer ".length())), ca, cert, key);
  }
}
