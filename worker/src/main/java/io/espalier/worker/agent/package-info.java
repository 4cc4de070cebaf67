/**
 * The worker: the worker's half of the protocol ({@link io.espalier.core.protocol.WorkerProtocol})
 * driven by real clocks, processes and calls.
 */
@NullMarked
package io.espalier.worker.agent;

import org.jspecify.annotations.NullMarked;
