/**
 * What closes jobs and what narrows limits (docs/adr/0048-gates-and-effective-limits.md).
 *
 * <p>{@link io.espalier.core.scheduling.gate.JobGates} combines all conditions that close a whole
 * job into one bit per job.
 */
@NullMarked
package io.espalier.core.scheduling.gate;

import org.jspecify.annotations.NullMarked;
