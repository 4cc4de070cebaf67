package io.espalier.webui.fleet;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Bounds within which schedulers are asked.
 *
 * @param interval between two questions to one scheduler; longer when there are so many that more
 *     than 200 would be asked in a second
 * @param connect until there is a connection
 * @param receive until the whole answer is there
 * @param quick how many are asked at a time
 * @param slow how many further ones may be waited for that did not answer within a second; so they
 *     do not keep others from being asked
 * @param answerBytes the longest answer that is read
 * @param allBytes of all answers being read at a time
 * @param nodesEvery between two comparisons of the nodes of all schedulers
 * @param nodeNames how many names of nodes are compared, over all schedulers
 * @param actions how many schedulers are told at a time to do something
 * @param access towards schedulers
 */
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
    Access access) {
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
   * How schedulers know us.
   *
   * @param token sent to all of them; empty: none
   * @param ca of their certificates, as PEM; empty: those that Java trusts
   * @param cert ours, as PEM, with its key
   */
  public record Access(
      Optional<String> token, Optional<Path> ca, Optional<Path> cert, Optional<Path> key) {
    public static final Access NONE =
        new Access(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** Without the token. */
    @Override
    public String toString() {
      return "Access[token=" + (token.isPresent() ? "…" : "none") + ", ca=" + ca + "]";
    }
  }

  public FleetOptions withTimes(Duration newInterval, Duration newConnect, Duration newReceive) {
    return new FleetOptions(
        newInterval,
        newConnect,
        newReceive,
        quick,
        slow,
        answerBytes,
        allBytes,
        nodesEvery,
        nodeNames,
        actions,
        access);
  }

  public FleetOptions withAnswerBytes(int newBytes) {
    return new FleetOptions(
        interval,
        connect,
        receive,
        quick,
        slow,
        newBytes,
        allBytes,
        nodesEvery,
        nodeNames,
        actions,
        access);
  }

  public FleetOptions withAccess(Access newAccess) {
    return new FleetOptions(
        interval,
        connect,
        receive,
        quick,
        slow,
        answerBytes,
        allBytes,
        nodesEvery,
        nodeNames,
        actions,
        newAccess);
  }
}
