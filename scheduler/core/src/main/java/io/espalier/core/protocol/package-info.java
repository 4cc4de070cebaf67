/**
 * The protocol between a scheduler and its workers as two state machines without I/O, clocks or
 * threads: {@link io.espalier.core.protocol.SchedulerProtocol} and {@link
 * io.espalier.core.protocol.WorkerProtocol}. It has three calls: heartbeat and report from worker
 * to scheduler, work from scheduler to worker. {@code thrift/PROTOCOL.md} explains why no task ever
 * has two live invocations.
 */
@NullMarked
package io.espalier.core.protocol;

import org.jspecify.annotations.NullMarked;
