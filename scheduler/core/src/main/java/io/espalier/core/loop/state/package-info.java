/**
 * What the parts of the loop share: the running tasks, events, measured throughput, and the ports
 * to stores, runners and logs.
 */
@NullMarked
package io.espalier.core.loop.state;

import org.jspecify.annotations.NullMarked;
