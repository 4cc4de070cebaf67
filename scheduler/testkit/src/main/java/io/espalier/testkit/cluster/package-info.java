/**
 * Simulates a whole cluster in one thread: the production scheduler loop, scheduling core and both
 * sides of the worker protocol, over simulated time, network, store, processes and clocks.
 * Everything derives from one seed, and the invariants are checked after every step.
 */
@NullMarked
package io.espalier.testkit.cluster;

import org.jspecify.annotations.NullMarked;
