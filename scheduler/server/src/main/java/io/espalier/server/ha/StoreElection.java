package io.espalier.server.ha;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.store.jdbc.mysql.MySqlOwners.Standing;
import io.espalier.server.store.jdbc.mysql.StoreOwner;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One candidacy for the ownership of a status store. */
final class StoreElection extends Candidacy {
  private static final Logger LOG = LoggerFactory.getLogger(StoreElection.class);

  /** The time in which an earlier candidate may take a free store. */
  private static final long PRECEDENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  private final MySqlOwners owners;
  private final StoreOwnership.Applicant applicant;
  private final String process = UUID.randomUUID().toString();
  private @Nullable StoreOwner row;
  private long rowSinceNanos;
  private volatile @Nullable StoreOwnership ownership;
  private volatile boolean closed;

  /** Creates a candidacy, which is active at once. */
  StoreElection(MySqlAddress address, StoreOwnership.Applicant applicant, Candidate self) {
    this.owners = MySqlOwners.of(address);
    this.applicant = applicant;
    owners.join(process, self.toJson());
  }

  /**
   * Takes the store if it is available.
   *
   * @param now the row of its owner
   * @param alive all candidates, in the order of their arrival
   */
  synchronized void step(StoreOwner now, List<Standing> alive) {
    if (closed) {
      return;
    }
    owners.beatOf(process);
    if (ownership != null) {
      return;
    }
    StoreOwner before = row;
    if (before == null || !now.isUnchangedSince(before)) {
      row = now;
      rowSinceNanos = System.nanoTime();
    }
    if (System.nanoTime() - rowSinceNanos < waitNanos(now, alive)) {
      return;
    }
    StoreOwnership taken = StoreOwnership.claim(owners, now, applicant, process);
    if (taken != null) {
      taken.prove(
          e -> {
            LOG.warn("{}", e.getMessage());
            changed();
          },
          () -> {});
      ownership = taken;
      changed();
    }
  }

  /** Returns how long the row must be seen unchanged. */
  private long waitNanos(StoreOwner now, List<Standing> alive) {
    if (now.isFree()) {
      int earlier = 0;
      while (earlier < alive.size() && !alive.get(earlier).process().equals(process)) {
        earlier++;
      }
      return earlier * PRECEDENCE_NANOS;
    }
    // The next leader waits for the tasks of the group's own leader one by one.
    boolean own = now.owner().equals(applicant.owner());
    return TimeUnit.MILLISECONDS.toNanos(
        StoreOwnership.silenceMillis(now) + (own ? 0 : now.leaseMillis()));
  }

  @Override
  boolean isLost() {
    return ownership == null || isOver();
  }

  @Override
  boolean isOver() {
    StoreOwnership mine = ownership;
    return closed || (mine != null && mine.isLost());
  }

  @Override
  long remainingMillis() {
    StoreOwnership mine = ownership;
    return mine == null || closed ? 0 : mine.remainingMillis();
  }

  @Override
  Optional<String> problem() {
    StoreOwnership mine = ownership;
    return mine == null ? Optional.empty() : mine.problem();
  }

  @Override
  Optional<StoreOwnership> ownership() {
    return Optional.ofNullable(ownership);
  }

  /** Does nothing: the other candidates read the store often enough. */
  @Override
  void opened() {}

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    StoreOwnership mine = ownership;
    if (mine != null) {
      mine.close();
    }
    try {
      owners.leave(process);
    } catch (StoreException e) {
      LOG.debug("the others will find out that this candidate is gone", e);
    }
    owners.close();
    changed();
  }
}
