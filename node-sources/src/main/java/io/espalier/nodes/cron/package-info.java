/**
 * Schedules: the instants that a crontab item selects (docs/design/bistro.md#crontab-items). The
 * code is pure, without clock and I/O; errors in an item become problems.
 */
@NullMarked
package io.espalier.nodes.cron;

import org.jspecify.annotations.NullMarked;
