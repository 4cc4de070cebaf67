package io.espalier.server.ha;

import io.espalier.core.protocol.ClockReading;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.worker.thread.PeriodicThread;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.zookeeper.KeeperException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidacy in ZooKeeper, from joining the queue of candidates to leaving it. Curator's latch
 * determines the first candidate; this class relies on being first only as long as it is proven.
 *
 * <p><b>The proof</b> is a transaction about once a second: "our znode in the queue exists; write
 * this". Reading our znode would not suffice: a server that is cut off from the others continues to
 * answer reads for a while, although the others may have ended our session and elected another
 * leader. A write succeeds only with more than half of the servers.
 *
 * <p>Epochs come from the status store, not from ZooKeeper, which only remembers the highest one
 * ({@link ZooKeeperMark}). Thread-safe.
 */
final class ZooKeeperElection extends Candidacy {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperElection.class);
  private static final Duration PROOF = Duration.ofSeconds(1);

  private final ZooKeeperLink link;
  private final String base;
  private final byte[] self;
  private final LeadershipLease validity;
  private final LeaderLatch latch;
  private final PeriodicThread prover = new PeriodicThread("leadership-proof");
  private volatile String proofProblem = "";
  private volatile boolean gone;
  private volatile boolean closed;

  private ZooKeeperElection(ZooKeeperLink link, Candidate self, LeadershipLease validity) {
    this.link = link;
    this.base = link.target().path();
    this.self = self.toJson().getBytes(StandardCharsets.UTF_8);
    this.validity = validity;
    this.latch = new LeaderLatch(link.client(), ZooKeeperPaths.leader(base), self.toJson());
  }

  /**
   * Joins the queue and creates the group if this is its first candidate.
   *
   * @throws IOException with one clear line when ZooKeeper refuses
   */
  static ZooKeeperElection join(ZooKeeperLink link, Candidate self, LeadershipLease validity)
      throws IOException {
    prepare(link);
    ZooKeeperElection election = new ZooKeeperElection(link, self, validity);
    election.latch.addListener(
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            election.prover.once(Duration.ZERO, election::prove);
          }

          @Override
          public void notLeader() {
            // The latch queues again by itself once it is connected, and may be first at once; but
            // another candidate may have led in between.
            election.gone = true;
            validity.end();
            election.changed();
          }
        });
    try {
      election.latch.start();
    } catch (Exception e) {
      election.close();
      throw ZooKeeperException.of("cannot join the election", link.target(), e);
    }
    election.prover.every(Duration.ZERO, PROOF, election::prove);
    return election;
  }

  /**
   * Creates the paths, because the latch itself would fail again and again with only a log line.
   */
  private static void prepare(ZooKeeperLink link) throws IOException {
    String base = link.target().path();
    for (String path :
        List.of(
            ZooKeeperPaths.leader(base), ZooKeeperPaths.proof(base), ZooKeeperPaths.opened(base))) {
      try {
        if (link.client().checkExists().forPath(path) == null) {
          String made = link.client().create().creatingParentsIfNeeded().forPath(path, new byte[0]);
          LOG.info("created {} in ZooKeeper: this is the first scheduler of its group", made);
        }
      } catch (KeeperException.NodeExistsException e) {
        LOG.debug("another was faster to create {}", path);
      } catch (Exception e) {
        throw ZooKeeperException.of("cannot create " + path, link.target(), e);
      }
    }
  }

  private void prove() {
    try {
      if (closed || !latch.hasLeadership()) {
        return;
      }
      ClockReading asked = validity.now();
      CuratorFramework client = link.client();
      String place = latch.getOurPath();
      if (place == null) {
        return;
      }
      int written =
          client
              .transaction()
              .forOperations(
                  client.transactionOp().check().forPath(place),
                  client.transactionOp().setData().forPath(ZooKeeperPaths.proof(base), self))
              .size();
      if (written > 0 && latch.hasLeadership()) {
        validity.proven(asked, link.sessionMillis());
        proofProblem = "";
        changed();
      }
    } catch (KeeperException.NoNodeException e) {
      // Our session has ended, or somebody has deleted our znode: in both cases another candidate
      // may lead.
      LOG.warn("our place in the election is gone: {}", e.getMessage());
      proofProblem = "our znode in ZooKeeper is gone";
      gone = true;
      validity.end();
      changed();
    } catch (Exception e) {
      proofProblem =
          String.valueOf(
              ZooKeeperException.of("cannot prove to lead", link.target(), e).getMessage());
      LOG.warn("{}; certain for {} ms more", proofProblem, Math.max(0, remainingMillis()));
    }
  }

  /** Notifies all who wait for a leader that it answers from now on. */
  @Override
  void opened() {
    try {
      link.client().setData().inBackground().forPath(ZooKeeperPaths.opened(base), self);
    } catch (Exception e) {
      LOG.warn("workers will find out by themselves that we lead", e);
    }
  }

  /**
   * Returns true when another candidate may lead, so that waiting is useless: the session has
   * ended, or our place was taken. Overdue proofs alone do not count, because they may succeed
   * again.
   */
  @Override
  boolean isLost() {
    return isOver() || !latch.hasLeadership();
  }

  /** Returns true when this candidacy is finished: it has led and leads no more. */
  @Override
  boolean isOver() {
    return gone || closed;
  }

  /** Returns for how many milliseconds it is certain that we lead; 0 or less: it is not. */
  @Override
  long remainingMillis() {
    return closed ? 0 : validity.remainingMillis();
  }

  /** Describes what prevents the proof that we lead; empty: nothing. */
  @Override
  Optional<String> problem() {
    String problem = proofProblem;
    boolean certain = remainingMillis() > 0;
    if (problem.isEmpty() && (certain || isLost())) {
      return Optional.empty();
    }
    return Optional.of(
        (problem.isEmpty() ? "ZooKeeper does not confirm that we lead" : problem)
            + (certain
                ? "; tasks are started for a few seconds more"
                : "; no task is started, those that run go on"));
  }

  @Override
  Optional<StoreOwnership> ownership() {
    return Optional.empty();
  }

  /** Leaves the queue; the next candidate leads at once. */
  @Override
  public void close() {
    closed = true;
    validity.end();
    prover.close();
    try {
      if (latch.getState() == LeaderLatch.State.STARTED) {
        latch.close();
      }
    } catch (IOException e) {
      LOG.warn("leaving the election failed; the end of the session will do it", e);
    }
    changed();
  }
}
