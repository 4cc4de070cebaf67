/** The scheduler process: adapters, loop and wiring. */
@NullMarked
package io.espalier.server;

import org.jspecify.annotations.NullMarked;
