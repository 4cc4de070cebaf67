package io.espalier.webui;

import java.net.URI;
import java.util.Optional;

/**
 * What a scheduler that stands by knows of the one that leads.
 *
 * @param group of which schedulers it is one, for metrics
 * @param leader where it serves HTTP; empty: nobody leads, or it serves none
 * @param leaderName for people; empty: nobody leads
 * @param problem why nobody leads, or what keeps this one from taking over; empty: nothing
 */
public record StandbyState(String group, Optional<URI> leader, String leaderName, String problem) {}
