/** The scheduler process: the wiring of its parts, and its lifecycle. */
@NullMarked
package io.espalier.server.process;

import org.jspecify.annotations.NullMarked;
