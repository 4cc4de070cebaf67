/**
 * Control groups of Linux, versions 1 and 2 side by side: what the host offers, the groups of one
 * task, their limits, usage, kill and removal (docs/design/bistro.md#control-groups).
 */
@NullMarked
package io.espalier.worker.cgroup;

import org.jspecify.annotations.NullMarked;
