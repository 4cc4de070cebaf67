package io.espalier.server.ha;

import io.espalier.core.status.StoreException;
import io.espalier.server.process.StoreOwnership;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.server.store.mysql.MySqlOwners;
import io.espalier.server.store.mysql.MySqlOwners.Standing;
import io.espalier.server.store.mysql.MySqlStatusStore;
import io.espalier.server.store.mysql.StoreOwner;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A group that elects its leader by the row of the owner in the status store that it shares: who
 * has the store leads. Whoever wants it waits until the row has not changed for as long as its
 * owner's proofs count, by its own clock.
 */
final class StoreGroup implements Group {
  /** A leader that could not change the row for so long leads no more. */
  static final Duration DEFAULT_PROOF = Duration.ofSeconds(6);

  private static final Logger LOG = LoggerFactory.getLogger(StoreGroup.class);
  private static final long LOOK_MILLIS = 500;

  /** A candidate whose row does not change is not shown after that, and is deleted after ten. */
  private static final long GONE_NANOS = TimeUnit.SECONDS.toNanos(6);

  private final MySqlAddress address;
  private final MySqlOwners owners;
  private final Duration proof;
  private final Consumer<List<Candidate>> news;
  private final Map<String, Seen> seen = new HashMap<>();
  private final ScheduledExecutorService looking;
  private volatile List<Candidate> candidates = List.of();
  private volatile Optional<Candidate> leader = Optional.empty();
  private volatile String problem = "";
  private volatile @Nullable StoreElection election;

  private record Seen(long beat, long sinceNanos) {}

  /**
   * @param proof for how long each proof of a leader counts
   * @param news told of the candidates whenever they have changed, the leader first
   */
  StoreGroup(MySqlAddress address, Duration proof, Consumer<List<Candidate>> news) {
    this.address = address;
    this.owners = MySqlOwners.of(address);
    this.proof = proof;
    this.news = news;
    this.looking =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "election");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Makes the tables when there are none: before that there is nothing to elect by. */
  @Override
  public void awaitConnected() throws IOException {
    try {
      if (owners.read().isEmpty()) {
        MySqlStatusStore.prepare(address);
      }
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
    ScheduledFuture<?> forEver =
        looking.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    LOG.trace("looking by {}", forEver);
  }

  /** They elect by it, so it is one. */
  @Override
  public void requireStore(String store) {}

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
    } catch (RuntimeException e) {
      LOG.error("looking for the leader failed", e);
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

  /** The candidates of a store whose leader has it, the leader first; empty when nobody has it. */
  static List<Candidate> read(MySqlOwners owners) throws IOException {
    try {
      Optional<StoreOwner> owner = owners.read().filter(row -> !row.isFree());
      return owner.isEmpty() ? List.of() : candidates(owner.get(), owners.standings());
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Those of the candidates whose row has changed since it was read. */
  static List<Standing> beating(List<Standing> then, MySqlOwners owners) {
    return owners.standings().stream().filter(each -> !then.contains(each)).toList();
  }

  /** The owner first. */
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

  /** Their addresses of the store may differ, and it has one group. */
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
    looking.shutdownNow();
    owners.close();
  }
}
