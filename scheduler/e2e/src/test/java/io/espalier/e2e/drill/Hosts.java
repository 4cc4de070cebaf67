package io.espalier.e2e.drill;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The hosts of a drill, number 0 for the scheduler: network namespaces joined by a bridge in
 * another one, so that links can be cut; or just loopback, where they cannot.
 */
final class Hosts implements AutoCloseable {
  /** The hardware address of nobody: what is sent there is lost, and the sender is not told. */
  private static final String NOBODY = "02:00:00:00:fe:fe";

  private final String prefix;
  private final int count;
  private final boolean namespaces;

  private Hosts(String prefix, int count, boolean namespaces) {
    this.prefix = prefix;
    this.count = count;
    this.namespaces = namespaces;
  }

  static Hosts loopback(int count) {
    return new Hosts("", count, false);
  }

  /** Why this machine cannot have namespaces; empty when it can. */
  static String whyNoNamespaces() {
    String name = "espd-probe-" + ProcessHandle.current().pid();
    String problem;
    try {
      problem = Shell.tryToRun("ip", "netns", "add", name);
    } catch (UncheckedIOException e) {
      return "there is no ip: " + e.getMessage();
    }
    if (problem == null) {
      // Some containers allow namespaces, but nothing in them.
      problem = Shell.tryToRun("ip", "-n", name, "link", "add", "br0", "type", "bridge");
      Shell.run("ip", "netns", "delete", name);
    }
    return problem == null ? "" : problem;
  }

  /**
   * @param prefix of the names of namespaces; at most 8 characters
   */
  static Hosts namespaces(String prefix, int count) {
    Hosts hosts = new Hosts(prefix, count, true);
    hosts.remove();
    String middle = prefix + "br";
    Shell.run("ip", "netns", "add", middle);
    Shell.run("ip", "-n", middle, "link", "add", "br0", "type", "bridge");
    Shell.run("ip", "-n", middle, "link", "set", "br0", "up");
    for (int i = 0; i < count; i++) {
      String host = hosts.name(i);
      Shell.run("ip", "netns", "add", host);
      Shell.run("ip", "-n", host, "link", "set", "lo", "up");
      Shell.run(
          "ip", "-n", middle, "link", "add", "v" + i, "type", "veth", "peer", "name", "eth0",
          "netns", host);
      Shell.run("ip", "-n", middle, "link", "set", "v" + i, "master", "br0", "up");
      Shell.run("ip", "-n", host, "addr", "add", hosts.address(i) + "/24", "dev", "eth0");
      Shell.run("ip", "-n", host, "link", "set", "eth0", "up");
    }
    return hosts;
  }

  boolean canBeCut() {
    return namespaces;
  }

  private String name(int host) {
    return prefix + host;
  }

  /** Where a host is reached by the others. */
  String address(int host) {
    return namespaces ? "10.77.0." + (host + 1) : "127.0.0.1";
  }

  /** What stands in front of a command that runs on a host. */
  List<String> command(int host) {
    return namespaces ? List.of("ip", "netns", "exec", name(host)) : List.of();
  }

  /** Nothing passes in either direction. */
  void cut(int host) {
    Shell.run("ip", "-n", prefix + "br", "link", "set", "v" + host, "down");
  }

  /** What a worker's host sends to the scheduler's is lost; what comes from there arrives. */
  void mute(int host) {
    lose(host, 0);
  }

  /** What the scheduler's host sends to a worker's is lost; what the worker sends arrives. */
  void deafen(int host) {
    lose(0, host);
  }

  private void lose(int from, int to) {
    Shell.run(
        "ip",
        "-n",
        name(from),
        "neigh",
        "replace",
        address(to),
        "lladdr",
        NOBODY,
        "dev",
        "eth0",
        "nud",
        "permanent");
  }

  /** Everything passes again between this host and the others. */
  void mend(int host) {
    if (!namespaces) {
      return;
    }
    Shell.run("ip", "-n", prefix + "br", "link", "set", "v" + host, "up");
    if (host > 0) {
      find(host, 0);
      find(0, host);
    }
  }

  private void find(int from, int to) {
    // Not there when nothing was ever sent.
    String unused =
        Shell.tryToRun("ip", "-n", name(from), "neigh", "delete", address(to), "dev", "eth0");
  }

  private void remove() {
    List<String> names = new ArrayList<>(List.of(prefix + "br"));
    for (int i = 0; i < count; i++) {
      names.add(name(i));
    }
    for (String each : names) {
      String unused = Shell.tryToRun("ip", "netns", "delete", each);
    }
  }

  @Override
  public void close() {
    if (namespaces) {
      remove();
    }
  }
}
