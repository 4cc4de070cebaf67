package io.espalier.webui.http;

import java.util.HashMap;
import java.util.Map;

/** How much clients hold, in all and by address; an IPv6 network of 64 bits is one address. */
public final class AddressCounts {
  private final Map<String, Integer> byAddress = new HashMap<>();
  private int all;

  public synchronized void enter(String address) {
    all++;
    byAddress.merge(AuthHandler.network(address), 1, Integer::sum);
  }

  public synchronized void leave(String address) {
    all--;
    String network = AuthHandler.network(address);
    if (byAddress.merge(network, -1, Integer::sum) == 0) {
      byAddress.remove(network);
    }
  }

  public synchronized int all() {
    return all;
  }

  public synchronized int of(String address) {
    return byAddress.getOrDefault(AuthHandler.network(address), 0);
  }
}
