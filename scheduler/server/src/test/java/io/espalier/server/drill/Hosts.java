package io.espalier.server.drill;

import java.util.ArrayList;
import java.util.List;

/**
 * The hosts of a drill, number 0 for the scheduler: network namespaces joined by a bridge in
 * another one, so that links can be cut; or just loopback, where they cannot.
 */
final class Hosts implements AutoCloseable {
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
    String problem = Shell.tryToRun("ip", "netns", "add", name);
    if (problem == null) {
      Shell.run("ip", "netns", "delete", name);
      return "";
    }
    return problem;
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

  /** The host hears the others and is not heard by them. */
  void mute(int host) {
    Shell.run("ip", "-n", name(host), "route", "replace", "blackhole", "10.77.0.0/25");
    Shell.run("ip", "-n", name(host), "route", "replace", "blackhole", "10.77.0.128/25");
  }

  /** Everything passes again. */
  void mend(int host) {
    if (!namespaces) {
      return;
    }
    Shell.run("ip", "-n", prefix + "br", "link", "set", "v" + host, "up");
    for (String half : List.of("10.77.0.0/25", "10.77.0.128/25")) {
      // Not there unless the host was mute.
      String unused = Shell.tryToRun("ip", "-n", name(host), "route", "delete", "blackhole", half);
    }
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
