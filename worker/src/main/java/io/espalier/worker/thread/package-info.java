/**
 * The threads of workers and schedulers: one that owns state and has an inbox, and one that does
 * something when it is due.
 */
@NullMarked
package io.espalier.worker.thread;

import org.jspecify.annotations.NullMarked;
