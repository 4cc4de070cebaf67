package io.espalier.webui.fleet.poll;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The limits of the requests to schedulers.
 *
 * @param interval between two queries to one scheduler; longer when more than 200 would be queried
 *     per second
 * @param connect time limit for the connection
 * @param receive time limit for the whole answer
 * @param quick maximum number of concurrent queries
 * @param slow maximum number of additional queries that did not get an answer within a second, so
 *     that they do not delay the others
 * @param answerBytes maximum size of an answer
 * @param allBytes maximum size of all answers being read
 * @param nodesEvery between two comparisons of the nodes of all schedulers
 * @param nodeNames maximum number of compared names of nodes, over all schedulers
 * @param actions maximum number of schedulers that receive a command at a time
 * @param access credentials for schedulers
 */
@RecordBuilder
public record FleetOptions(
    Duration interval,
    Duration connect,
    Duration receive,
    int quick,
    int slow,
    int answerBytes,
    long allBytes,
    Duration nodesEvery,
    int nodeNames,
    int actions,
    Access access)
    implements FleetOptionsBuilder.With {
  public static final FleetOptions DEFAULT =
      new FleetOptions(
          Duration.ofSeconds(5),
          Duration.ofSeconds(1),
          Duration.ofSeconds(7),
          256,
          256,
          4 << 20,
          256L << 20,
          Duration.ofSeconds(60),
          1_000_000,
          64,
          Access.NONE);

  /**
   * The credentials for schedulers.
   *
   * @param token sent to all of them; empty: none
   * @param ca authority of their certificates, as PEM; empty: those that Java trusts
   * @param cert our certificate, as PEM, with its key
   */
  public record Access(
      Optional<String> token, Optional<Path> ca, Optional<Path> cert, Optional<Path> key) {
    public static final Access NONE =
        new Access(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** Returns a readable form without the token. */
    @Override
    public String toString() {
      return "Access[token=" + (token.isPresent() ? "…" : "none") + ", ca=" + ca + "]";
    }
  }

  public FleetOptions withTimes(Duration newInterval, Duration newConnect, Duration newReceive) {
    return with(options -> options.interval(newInterval).connect(newConnect).receive(newReceive));
  }
}
