/**
 * A whole cluster in one thread: the production scheduler loop, scheduling core and both sides of
 * the worker protocol, over simulated time, network, store, processes and clocks. Everything comes
 * from one seed, and what must never happen is checked after every step.
 */
@NullMarked
package io.espalier.testkit.cluster;

import org.jspecify.annotations.NullMarked;
