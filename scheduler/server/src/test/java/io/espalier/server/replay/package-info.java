/** Recordings of what is done to the core. */
@NullMarked
package io.espalier.server.replay;

import org.jspecify.annotations.NullMarked;
