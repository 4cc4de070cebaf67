package io.espalier.server.ha;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.app.ownership.GroupMark;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.store.jdbc.mysql.MySqlOwners.Standing;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.server.store.jdbc.mysql.StoreOwner;
import io.espalier.worker.thread.PeriodicThread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A group that elects its leader by the owner's row in the shared status store: the owner of the
 * store leads. A candidate waits until, by its own clock, the row has not changed for as long as
 * its owner's proofs are valid.
 */
final class StoreGroup implements Group {
  /** A leader that could not update the row for this long no longer leads. */
  static final Duration DEFAULT_PROOF = Duration.ofSeconds(6);

  private static final Logger LOG = LoggerFactory.getLogger(StoreGroup.class);
  private static final Duration LOOK = Duration.ofMillis(500);

  /**
   * A candidate whose row does not change is hidden after this time, and deleted after ten times as
   * long.
   */
  private static final long GONE_NANOS = TimeUnit.SECONDS.toNanos(6);

  private final MySqlAddress address;
  private final MySqlOwners owners;
  private final Duration proof;
  private final Consumer<List<Candidate>> news;
  private final Map<String, Seen> seen = new HashMap<>();
  private final PeriodicThread looking = new PeriodicThread("election");
  private volatile List<Candidate> candidates = List.of();
  private volatile Optional<Candidate> leader = Optional.empty();
  private volatile String problem = "";
  private volatile @Nullable StoreElection election;

  private record Seen(long beat, long sinceNanos) {}

  /**
   * @param proof the validity of each proof of a leader
   * @param news receives the candidates whenever they have changed, the leader first
   */
  StoreGroup(MySqlAddress address, Duration proof, Consumer<List<Candidate>> news) {
    this.address = address;
    this.owners = MySqlOwners.of(address);
    this.proof = proof;
    this.news = news;
  }

  /** Creates the tables when they are missing, because the election needs them. */
  @Override
  public void awaitConnected() throws IOException {
    try {
      if (owners.read().isEmpty()) {
        MySqlStatusStore.prepare(address);
      }
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
    looking.every(Duration.ZERO, LOOK, this::look);
  }

  /** Does nothing: the candidates elect by the store, so they share it. */
  @Override
  public void requireStore(String store) {}

  /** A mark in the store would be set back with it. */
  @Override
  public GroupMark mark() {
    return GroupMark.NONE;
  }

  @Override
  public Candidacy join(Candidate self) throws IOException {
    try {
      StoreElection joined =
          new StoreElection(
              address,
              new StoreOwnership.Applicant(
                  ownerName(), "the scheduler " + self + " of " + this, proof, true),
              self);
      election = joined;
      return joined;
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void look() {
    try {
      Optional<StoreOwner> owner = owners.read();
      List<Standing> all = owners.standings();
      long now = System.nanoTime();
      List<Standing> alive = new ArrayList<>();
      for (Standing each : all) {
        Seen before = seen.get(each.process());
        if (before == null || before.beat() != each.beat()) {
          before = new Seen(each.beat(), now);
          seen.put(each.process(), before);
        }
        if (now - before.sinceNanos() < GONE_NANOS) {
          alive.add(each);
        } else if (now - before.sinceNanos() > 10 * GONE_NANOS) {
          owners.leave(each.process());
        }
      }
      seen.keySet().removeIf(process -> all.stream().noneMatch(s -> s.process().equals(process)));
      owner.ifPresent(row -> publish(row, alive));
      problem = "";
      StoreElection mine = election;
      if (mine != null && owner.isPresent()) {
        mine.step(owner.get(), alive);
      }
    } catch (StoreException e) {
      problem = String.valueOf(e.getMessage());
      LOG.debug("{}", problem);
    }
  }

  private void publish(StoreOwner owner, List<Standing> alive) {
    List<Candidate> found = candidates(owner, alive);
    boolean led =
        !owner.isFree() && alive.stream().anyMatch(s -> s.process().equals(owner.process()));
    leader = led ? Optional.of(found.get(0)) : Optional.empty();
    if (!found.equals(candidates)) {
      candidates = List.copyOf(found);
      news.accept(candidates);
    }
  }

  /**
   * Returns the candidates of a store whose owner leads, the leader first; empty when the store has
   * no owner.
   */
  static List<Candidate> read(MySqlOwners owners) throws IOException {
    try {
      Optional<StoreOwner> owner = owners.read().filter(row -> !row.isFree());
      return owner.isEmpty() ? List.of() : candidates(owner.get(), owners.standings());
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Returns the candidates whose row has changed since {@code then} was read. */
  static List<Standing> beating(List<Standing> then, MySqlOwners owners) {
    return owners.standings().stream().filter(each -> !then.contains(each)).toList();
  }

  /** Returns the candidates, the owner first. */
  static List<Candidate> candidates(StoreOwner owner, List<Standing> all) {
    List<Candidate> found = new ArrayList<>();
    for (Standing each : all) {
      boolean leads = !owner.isFree() && each.process().equals(owner.process());
      Candidate.parse(each.body())
          .ifPresent(candidate -> found.add(leads ? 0 : found.size(), candidate));
    }
    return found;
  }

  @Override
  public List<Candidate> candidates() {
    return candidates;
  }

  @Override
  public Optional<Candidate> leader() {
    return leader;
  }

  @Override
  public Optional<String> problem() {
    return Optional.of(problem).filter(text -> !text.isEmpty());
  }

  /**
   * Returns a fixed name: the addresses by which candidates reach the store may differ, and a store
   * has only one group.
   */
  @Override
  public String ownerName() {
    return "the group that elects by this store";
  }

  @Override
  public String toString() {
    return "the group at " + owners.description();
  }

  @Override
  public void close() {
    looking.close();
    owners.close();
  }
}
