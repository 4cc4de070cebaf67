/**
 * The gates: everything that closes whole jobs (docs/adr/0050-gates.md).
 *
 * <p>{@link io.espalier.core.scheduling.gate.GateTable} keeps the closed gates by kind and job, for
 * explanations and for whoever opens them. {@link io.espalier.core.scheduling.gate.JobGates}
 * combines them with what jobs, queues and workers still allow into one bit per job, which is all
 * that a start reads.
 */
@NullMarked
package io.espalier.core.scheduling.gate;

import org.jspecify.annotations.NullMarked;
