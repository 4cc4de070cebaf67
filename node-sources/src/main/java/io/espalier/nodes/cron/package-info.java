/**
 * Schedules: which instants a crontab item means (docs/design/bistro.md#crontab-items). Pure: no
 * clock, no I/O; what is wrong with an item becomes problems.
 */
@NullMarked
package io.espalier.nodes.cron;

import org.jspecify.annotations.NullMarked;
