/**
 * The gates: everything that closes whole jobs, and nodes with what is below them
 * (docs/adr/0050-gates.md, docs/adr/0054-effective-limits.md).
 *
 * <p>{@link io.espalier.core.scheduling.gate.GateTable} keeps the closed gates by kind and name,
 * for explanations and for the code that opens them. {@link
 * io.espalier.core.scheduling.gate.JobGates} combines those of jobs with what jobs, queues and
 * workers still allow into one bit per job, which is all that a start reads. The index has a bit
 * per closed node.
 */
@NullMarked
package io.espalier.core.scheduling.gate;

import org.jspecify.annotations.NullMarked;
