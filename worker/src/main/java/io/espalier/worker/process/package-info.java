/**
 * The execution library: runs task processes, from their start to the last line of their output.
 * The local runner and workers share it.
 *
 * <p>One supervisor thread owns the state of all tasks; a mechanism starts processes and reports
 * their events. The native mechanism (JNA: posix_spawn, epoll, pidfd; glibc on Linux) needs no
 * thread per task, the JDK one needs three.
 *
 * <p>This package sees all others: {@code os}, {@code output}, {@code spawn}, and {@code kill}, of
 * which each sees only those before it.
 */
@NullMarked
package io.espalier.worker.process;

import org.jspecify.annotations.NullMarked;
