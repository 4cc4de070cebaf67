/**
 * High availability, several schedulers with one leader: election, discovery, standby, take-over.
 */
@NullMarked
package io.espalier.server.ha;

import org.jspecify.annotations.NullMarked;
