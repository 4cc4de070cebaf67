package io.espalier.core.config;

/**
 * A token bucket: how often something may start.
 *
 * @param perSecond tokens that it gains per second, more than 0
 * @param burst tokens that it holds when full, at least 1
 */
public record StartRate(double perSecond, int burst) {}
