package io.espalier.server.ha;

import io.espalier.server.app.ownership.GroupMark;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A group that elects its leader in ZooKeeper. */
final class ZooKeeperGroup implements Group {
  private static final Duration CONNECT_AT_MOST = Duration.ofSeconds(15);

  private final ZooKeeperLink link;
  private final LeaderWatch watch;
  private volatile String ownerName = "";

  /**
   * @param news receives the candidates whenever they have changed, the leader first
   * @throws IOException when the account for ZooKeeper cannot be read
   */
  ZooKeeperGroup(ZooKeeperTarget target, Consumer<List<Candidate>> news) throws IOException {
    this.link = ZooKeeperLink.open(target);
    this.watch = LeaderWatch.start(link, news);
  }

  @Override
  public void awaitConnected() throws IOException, InterruptedException {
    link.awaitConnected(CONNECT_AT_MOST);
  }

  @Override
  public void requireStore(String store) throws IOException {
    SharedStore.require(link, store);
    ownerName = "group " + link.target().path() + " made " + SharedStore.made(link);
  }

  /** Does not use the names of the servers: each scheduler may list others, or in another order. */
  @Override
  public String ownerName() {
    return ownerName;
  }

  @Override
  public GroupMark mark() {
    return new ZooKeeperMark(link);
  }

  @Override
  public Candidacy join(Candidate self) throws IOException {
    return ZooKeeperElection.join(link, self, LeadershipLease.ofSystemClocks());
  }

  @Override
  public List<Candidate> candidates() {
    return watch.candidates();
  }

  @Override
  public Optional<Candidate> leader() {
    return watch.leader();
  }

  @Override
  public Optional<String> problem() {
    return link.problem();
  }

  @Override
  public String toString() {
    return link.target().toString();
  }

  @Override
  public void close() {
    watch.close();
    link.close();
  }
}
