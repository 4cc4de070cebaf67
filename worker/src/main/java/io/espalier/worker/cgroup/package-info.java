/**
 * Linux control groups, versions 1 and 2 side by side: what the host offers, and the groups of a
 * task with their limits, usage, kill and removal (docs/design/bistro.md#control-groups).
 */
@NullMarked
package io.espalier.worker.cgroup;

import org.jspecify.annotations.NullMarked;
