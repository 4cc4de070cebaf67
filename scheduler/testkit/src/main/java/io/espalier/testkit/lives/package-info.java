/**
 * Runs many simulated lives of a cluster ({@link io.espalier.testkit.cluster.SimulatedCluster}), on
 * several threads and over many runs.
 */
@NullMarked
package io.espalier.testkit.lives;

import org.jspecify.annotations.NullMarked;
