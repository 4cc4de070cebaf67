package io.espalier.core.config;

import io.espalier.core.config.window.Schedule;

/**
 * One entry of {@code node_windows}: when tasks may start on and below some nodes of a level. For
 * each node the last matching entry applies.
 *
 * @param level index of the level
 * @param tag tag that the nodes have; empty: any
 * @param attribute attribute whose text has the windows of the node; empty: {@code schedule} has
 *     them. A node without it does not match
 * @param schedule windows and freezes; with an attribute only freezes
 */
public record NodeWindowRule(int level, String tag, String attribute, Schedule schedule) {}
