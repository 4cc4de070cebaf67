package io.espalier.server.app.ownership;

import io.espalier.core.protocol.ClockReading;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.ownership.DirectoryOwner.Kinship;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.store.jdbc.mysql.StoreOwner;
import io.espalier.worker.thread.PeriodicThread;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires the ownership of a status store in MySQL for this process and proves it. The proof is
 * the owner's row, which the process updates about once a second. Each update is a proof that is
 * valid for a time named by the row, counted from before the update was sent. Another process that
 * wants the store waits until it has seen the row unchanged for that time by its own clock; clocks
 * of different machines are never compared.
 *
 * <p>Thread-safe. Has a thread from {@link #prove} to {@link #close}.
 */
public final class StoreOwnership implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreOwnership.class);
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final long LOOK_MILLIS = 500;

  private final MySqlOwners owners;
  private final StoreOwner mine;
  private final LeadershipLease validity;
  private final PeriodicThread prover = new PeriodicThread("store-proof");
  private volatile String problem = "";
  private volatile boolean lost;

  /** Whether {@code onLost} has been called without a failure; of the thread. */
  private boolean lossTold;

  private StoreOwnership(MySqlOwners owners, StoreOwner mine, LeadershipLease validity) {
    this.owners = owners;
    this.mine = mine;
    this.validity = validity;
  }

  /**
   * Identifies who wants a store, and how.
   *
   * @param owner a data directory with its place, or a group of schedulers; the same owner may take
   *     the store immediately, because no earlier process of it can still use the store
   * @param label the owner for people
   * @param proof the validity of each proof
   * @param takeOver whether to take the store also from another owner that did not end cleanly
   */
  public record Applicant(String owner, String label, Duration proof, boolean takeOver) {
    Kinship to(StoreOwner row) {
      return DirectoryOwner.between(row.owner(), owner);
    }

    StoreOwner row(String process) {
      return new StoreOwner(
          owner, process, label, System.currentTimeMillis(), proof.toMillis(), 0, 0, false);
    }
  }

  /**
   * Takes a store. A store that is free, or certainly the applicant's own, is taken at once. For a
   * store that may be the applicant's own, and, with {@code takeOver}, for another owner's, the
   * method first waits until the row no longer changes.
   *
   * @return empty when the store has no tables yet and thus cannot tell its owner
   * @throws CommandException when another owner has it
   * @throws StoreException when the store does not answer
   * @throws StartWaits.GivenUp when the wait was ended
   */
  public static Optional<StoreOwnership> take(
      MySqlAddress address, Applicant applicant, StartWaits waits) throws InterruptedException {
    MySqlOwners owners = MySqlOwners.of(address);
    StoreOwnership taken = null;
    try {
      while (taken == null) {
        Optional<StoreOwner> now = owners.read();
        if (now.isEmpty()) {
          return Optional.empty();
        }
        StoreOwner row = now.get();
        Kinship kinship = row.isFree() ? Kinship.SAME : applicant.to(row);
        if (kinship == Kinship.OTHER && !applicant.takeOver()) {
          throw refused(owners, row, applicant);
        }
        if (kinship != Kinship.SAME) {
          awaitSilence(
              owners,
              row,
              kinship == Kinship.OTHER
                  ? "--take-over"
                  : "it is not certain that this is the data directory that had the store, and no"
                      + " copy of it",
              waits);
        }
        taken = claim(owners, row, applicant, UUID.randomUUID().toString());
      }
      return Optional.of(taken);
    } finally {
      if (taken == null) {
        owners.close();
      }
    }
  }

  /**
   * Takes a store if its row is still as it was seen.
   *
   * @param owners closed together with the ownership
   * @param process a process id of the applicant that was never used before
   * @return null when the row has changed
   */
  public static @Nullable StoreOwnership claim(
      MySqlOwners owners, StoreOwner seen, Applicant applicant, String process) {
    LeadershipLease validity = LeadershipLease.ofSystemClocks();
    ClockReading asked = validity.now();
    StoreOwner mine = applicant.row(process);
    if (!owners.claim(seen, mine)) {
      return null;
    }
    StoreOwnership taken = new StoreOwnership(owners, mine, validity);
    taken.proven(asked);
    return taken;
  }

  /**
   * Returns how long a row must be seen unchanged before its owner can be considered without proof.
   */
  public static long silenceMillis(StoreOwner row) {
    return row.proofMillis() + ProtocolTimers.leastMargin(row.proofMillis());
  }

  /**
   * Waits until nothing of the owner can be alive. The clock stands still while this machine
   * sleeps, which can only make the wait longer.
   */
  private static void awaitSilence(MySqlOwners owners, StoreOwner row, String why, StartWaits waits)
      throws InterruptedException {
    long waitMillis = silenceMillis(row) + row.leaseMillis();
    LOG.warn(
        "{}: {} belongs to {}; it is taken when its row has not changed for {} s: then that one"
            + " has had no proof for {} s, and its tasks have had {} s to end",
        why,
        owners.description(),
        row.label(),
        waitMillis / 1000,
        row.proofMillis() / 1000,
        row.leaseMillis() / 1000);
    long since = System.nanoTime();
    while (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) < waitMillis) {
      waits.pause(LOOK_MILLIS);
      StoreOwner now = owners.read().orElse(row);
      if (now.isFree()) {
        return;
      }
      if (!now.isUnchangedSince(row)) {
        throw new CommandException(
            ExitCode.USAGE,
            owners.description()
                + " is in use: "
                + now.label()
                + " has changed its row while this one waited; stop that one first");
      }
    }
  }

  private static CommandException refused(MySqlOwners owners, StoreOwner row, Applicant applicant) {
    return new CommandException(
        ExitCode.USAGE,
        owners.description()
            + " belongs to "
            + row.label()
            + " since "
            + Instant.ofEpochMilli(row.sinceMillis()).truncatedTo(ChronoUnit.SECONDS)
            + ", which has not ended in order; this is "
            + applicant.label()
            + ". Two schedulers with one store would run every task twice. Start that one again, or"
            + " stop it; if it cannot be stopped because its host is lost, give --take-over, which"
            + " waits "
            + (silenceMillis(row) + row.leaseMillis()) / 1000
            + " s first");
  }

  /**
   * Returns the id under which the store knows this process. Raising the epoch checks with it that
   * the process is the owner.
   */
  public String process() {
    return mine.process();
  }

  /**
   * Starts to prove the ownership, about once a second.
   *
   * @param onLost called when another process owns the store, once unless it fails
   * @param onUnproven called repeatedly while the last proof is no longer valid
   */
  public void prove(Consumer<? super StoreException> onLost, Runnable onUnproven) {
    prover.every(BEAT, BEAT, () -> look(onLost));
    // Of its own, so that a failure above does not prevent it.
    prover.every(
        BEAT,
        BEAT,
        () -> {
          if (remainingMillis() <= 0 && !lost) {
            onUnproven.run();
          }
        });
  }

  private void look(Consumer<? super StoreException> onLost) {
    if (lossTold) {
      return;
    }
    try {
      ClockReading asked = validity.now();
      if (!lost && owners.beat(mine.process())) {
        proven(asked);
        problem = "";
      } else {
        lost = true;
        validity.end();
        problem = owners.description() + " is another scheduler's now";
        onLost.accept(new StoreException(lostTo(), false, null));
        lossTold = true;
      }
    } catch (StoreException e) {
      if (problem.isEmpty()) {
        LOG.warn("{}; it counts as ours for {} s more", e.getMessage(), remainingMillis() / 1000);
      }
      problem = String.valueOf(e.getMessage());
    }
  }

  private String lostTo() {
    try {
      return owners.description()
          + " was taken over by "
          + owners.read().map(StoreOwner::label).filter(label -> !label.isEmpty()).orElse("another")
          + ", epoch "
          + owners.epoch();
    } catch (StoreException e) {
      return owners.description() + " was taken over by another scheduler";
    }
  }

  private void proven(ClockReading asked) {
    long proof = mine.proofMillis();
    validity.provenFor(
        asked, proof - Math.min(proof / 2, Math.max(2_000, ProtocolTimers.leastMargin(proof))));
  }

  /**
   * Returns for how many milliseconds it is certain that this process owns the store; 0 or less: it
   * is not.
   */
  public long remainingMillis() {
    return lost ? 0 : validity.remainingMillis();
  }

  /**
   * Extends a lease for tasks that end with this process: they may live until so long after the end
   * of the proof. Does nothing without a proof.
   *
   * @param lease accepts the instant from which the lease counts, and its milliseconds
   */
  public void extend(ObjLongConsumer<ClockReading> lease, long afterProofMillis) {
    // Read first: time that passes before the question below can only make the lease shorter.
    ClockReading since = validity.now();
    long remaining = remainingMillis();
    if (remaining > 0) {
      lease.accept(since, remaining + afterProofMillis);
    }
  }

  /** Returns true when another process owns the store. */
  public boolean isLost() {
    return lost;
  }

  /** Describes what prevents the proof; empty: nothing. */
  public Optional<String> problem() {
    return Optional.of(problem)
        .filter(text -> !text.isEmpty())
        .map(
            text ->
                text
                    + (remainingMillis() > 0
                        ? "; the store counts as ours for " + remainingMillis() / 1000 + " s more"
                        : "; it has not been proven for too long that the store is ours: no worker"
                            + " is answered and no task started"));
  }

  /**
   * Releases the store, so that others can take it immediately. Everything must have ended before.
   */
  @Override
  public void close() {
    prover.close();
    try {
      if (!lost) {
        owners.end(mine.process());
      }
    } catch (StoreException e) {
      LOG.warn("{}: it does not know that this scheduler has ended", e.getMessage());
    }
    lost = true;
    owners.close();
  }
}
