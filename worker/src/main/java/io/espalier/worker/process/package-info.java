/**
 * The execution library: task processes, from their start to the last line of their output. Used by
 * the local runner and by workers alike.
 *
 * <p>One supervisor thread owns the state of all tasks; a mechanism starts processes and reports
 * what they do. The native mechanism (JNA: posix_spawn, epoll, pidfd; glibc on Linux) needs no
 * thread per task, the JDK one needs three.
 */
@NullMarked
package io.espalier.worker.process;

import org.jspecify.annotations.NullMarked;
