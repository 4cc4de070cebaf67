package io.espalier.server.ha;

import io.espalier.core.json.Json;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.ha.SchedulerProbe.Said;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.store.jdbc.mysql.MySqlOwners.Standing;
import io.espalier.server.store.jdbc.mysql.StoreOwner;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** Checks a group of schedulers from an operator's point of view, part by part. */
public final class HaCheck {
  private static final Duration CONNECT_AT_MOST = Duration.ofSeconds(15);

  /** A longer session, plus what follows it, exceeds a fail-over time of 15 s. */
  private static final int LONG_SESSION_MILLIS = 10_000;

  private static final long STALE_PROOF_MILLIS = 10_000;
  private static final long SKEW_MILLIS = 1_000;

  /** Every live candidate updates its row within this time, also on a busy machine. */
  private static final long BEATS_MILLIS = 4_000;

  private final Consumer<Finding> found;
  private final SchedulerProbe probe;

  /**
   * @param access credentials for the schedulers
   * @param found receives each finding immediately
   */
  public HaCheck(ClientAccess access, Consumer<Finding> found) {
    this.probe = new SchedulerProbe(access);
    this.found = found;
  }

  /** The severity of a finding. */
  public enum Level {
    OK,
    WARNING,
    PROBLEM
  }

  /**
   * The result of one check.
   *
   * @param about such as {@code ensemble}
   */
  public record Finding(Level level, String about, String message) {}

  private void ok(String about, String message) {
    found.accept(new Finding(Level.OK, about, message));
  }

  private void warning(String about, String message) {
    found.accept(new Finding(Level.WARNING, about, message));
  }

  private void problem(String about, String message) {
    found.accept(new Finding(Level.PROBLEM, about, message));
  }

  /**
   * Checks a group that elects in ZooKeeper.
   *
   * @throws IOException when ZooKeeper cannot be reached, so that there is nothing to check
   */
  public void look(ZooKeeperTarget group) throws IOException, InterruptedException {
    ensemble(group);
    try (ZooKeeperLink link = ZooKeeperLink.open(group)) {
      link.awaitConnected(CONNECT_AT_MOST);
      session(link);
      List<Candidate> candidates = LeaderWatch.read(link);
      candidates(group.toString(), candidates);
      store(link);
      if (!candidates.isEmpty()) {
        proof(link);
        leader(candidates.get(0));
        clocks(candidates);
      }
    }
  }

  /**
   * Checks a group that elects by its status store.
   *
   * @throws IOException when the store does not answer, so that there is nothing to check
   */
  public void look(MySqlAddress store) throws IOException, InterruptedException {
    try (MySqlOwners owners = MySqlOwners.of(store)) {
      Optional<StoreOwner> before = owners.read();
      if (before.isEmpty()) {
        problem("store", owners.description() + ": no scheduler of this version has led with it");
        return;
      }
      List<Standing> then = owners.standings();
      TimeUnit.MILLISECONDS.sleep(BEATS_MILLIS);
      StoreOwner now = owners.read().orElse(before.get());
      List<Candidate> candidates = StoreGroup.candidates(now, StoreGroup.beating(then, owners));
      candidates(owners.description(), candidates);
      ok("store", owners.description() + ", epoch " + owners.epoch());
      if (now.isFree()) {
        problem("leader", "nobody has the store");
      } else if (now.isUnchangedSince(before.get())) {
        problem("proof", now.label() + " has the store, and has not proven it just now");
      } else {
        ok("proof", now.label() + " has proven just now that the store is its own");
        session(now.proofMillis());
        if (!candidates.isEmpty()) {
          leader(candidates.get(0));
          clocks(candidates);
        }
      }
    } catch (StoreException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void session(long millis) {
    if (millis > LONG_SESSION_MILLIS) {
      warning("session", "proofs count for " + millis + " ms: fail-over takes longer than 15 s");
    } else {
      ok("session", "a leader that is silent for " + millis + " ms is replaced");
    }
  }

  private void ensemble(ZooKeeperTarget group) throws IOException, InterruptedException {
    Optional<SSLContext> tls = group.security().context();
    String[] servers = group.hosts().split(",", -1);
    int answering = 0;
    List<String> modes = new ArrayList<>();
    for (String server : servers) {
      String mode = ZooKeeperServerMode.of(server, tls);
      if (mode.isEmpty()) {
        problem("ensemble", server + " does not answer");
      } else {
        answering++;
        modes.add(server + " " + mode);
      }
    }
    String which = answering + " of " + servers.length + " servers answer: " + modes;
    if (2 * answering <= servers.length) {
      problem("ensemble", which + "; more than half are needed");
    } else if (servers.length < 3) {
      warning("ensemble", which + "; with fewer than three, none may fail");
    } else {
      ok("ensemble", which);
    }
  }

  private void session(ZooKeeperLink link) throws IOException {
    int millis = link.sessionMillis();
    if (millis > LONG_SESSION_MILLIS) {
      warning(
          "session",
          "sessions of this command last " + millis + " ms: fail-over takes longer than 15 s");
    } else {
      ok("session", "a leader that is silent for " + millis + " ms is replaced");
    }
  }

  private void candidates(String group, List<Candidate> candidates) {
    if (candidates.isEmpty()) {
      problem("candidates", "there is no scheduler at " + group);
    } else if (candidates.size() == 1) {
      warning("candidates", "there is only " + candidates.get(0) + ": nobody could take over");
    } else {
      ok(
          "candidates",
          candidates.size()
              + ", the leader first: "
              + candidates.stream().map(c -> c.toString()).toList());
    }
  }

  private void store(ZooKeeperLink link) throws IOException {
    String path = ZooKeeperPaths.store(link.target().path());
    try {
      String name = new String(link.client().getData().forPath(path), StandardCharsets.UTF_8);
      if (name.startsWith("sqlite")) {
        warning("store", name + ": only schedulers of that machine can take over");
      } else {
        ok("store", name);
      }
    } catch (KeeperException.NoNodeException e) {
      problem("store", "no scheduler has named its status store at " + path);
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  private void proof(ZooKeeperLink link) throws IOException {
    String path = ZooKeeperPaths.proof(link.target().path());
    try {
      Stat stat = link.client().checkExists().forPath(path);
      long age = stat == null ? Long.MAX_VALUE : System.currentTimeMillis() - stat.getMtime();
      if (age > STALE_PROOF_MILLIS) {
        problem("proof", "nobody has proven to lead for " + age / 1000 + " s");
      } else {
        ok("proof", "the leader has proven to lead " + Math.max(0, age) + " ms ago");
      }
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  private void leader(Candidate leader) throws InterruptedException {
    if (leader.http().isEmpty()) {
      warning("leader", leader + " serves no HTTP: it cannot be asked");
      return;
    }
    try {
      Said said = probe.get(leader.http(), "/api/v1/leadership");
      if (said.status() == 401 || said.status() == 403) {
        problem("leader", leader + " refuses this request: give --token-file");
        return;
      }
      Json.Obj leadership = said.body();
      String epoch = String.valueOf(leadership.get("epoch"));
      if (leadership.get("problem") instanceof Json.Str problem) {
        problem("leader", leader + ", epoch " + epoch + ": " + problem.value());
      } else {
        ok("leader", leader + " leads in epoch " + epoch);
      }
      Json.Obj problems = probe.get(leader.http(), "/api/v1/problems").body();
      if (problems.get("errors") instanceof Json.Arr errors) {
        for (Json error : errors.items()) {
          problem("leader", sentence(error));
        }
      }
    } catch (IOException e) {
      problem("leader", leader + " does not answer: " + e.getMessage());
    }
  }

  private static String sentence(Json error) {
    return error instanceof Json.Obj fields
            && fields.get("source") instanceof Json.Str source
            && fields.get("message") instanceof Json.Str message
        ? source.value() + ": " + message.value()
        : error.toString();
  }

  private void clocks(List<Candidate> candidates) throws InterruptedException {
    long least = Long.MAX_VALUE;
    long most = Long.MIN_VALUE;
    for (Candidate candidate : candidates) {
      if (candidate.http().isEmpty()) {
        continue;
      }
      boolean leads = candidate.equals(candidates.get(0));
      try {
        Said said = probe.get(candidate.http(), leads ? "/api/v1/leadership" : "/healthz");
        if (!leads && !Json.of("standby").equals(said.body().get("role"))) {
          problem("standby", candidate + " does not stand by: it answers as a leader");
        }
        if (said.body().get("time_ms") instanceof Json.Num time) {
          long ahead = time.value().longValue() - said.midMillis();
          least = Math.min(least, ahead);
          most = Math.max(most, ahead);
        }
      } catch (IOException e) {
        if (!leads) { // A leader that does not answer is a problem already.
          problem("standby", candidate + " does not answer: " + e.getMessage());
        }
      }
    }
    if (least > most) {
      return;
    }
    if (most - least > SKEW_MILLIS) {
      problem(
          "clocks",
          "the clocks of the schedulers differ by "
              + (most - least)
              + " ms: back-offs, deadlines and schedules jump when another leads");
    } else {
      ok("clocks", "the clocks of the schedulers differ by " + (most - least) + " ms at most");
    }
  }
}
