/** Core stays pure: no I/O, clock, thread, logger or unseeded randomness. */
@NullMarked
package io.espalier.core.purity;

import org.jspecify.annotations.NullMarked;
