package io.espalier.webui;

import java.net.URI;
import java.util.Optional;

/**
 * What a standby knows about the leader.
 *
 * @param group the name of its group of schedulers, for metrics
 * @param leader the leader's HTTP address; empty: there is no leader, or it does not serve HTTP
 * @param leaderName for people; empty: there is no leader
 * @param problem why there is no leader, or what prevents a take-over by this scheduler; empty:
 *     nothing
 */
public record StandbyState(String group, Optional<URI> leader, String leaderName, String problem) {}
