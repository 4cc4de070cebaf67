/** The scheduler process: its parts, wired, and its life. */
@NullMarked
package io.espalier.server.process;

import org.jspecify.annotations.NullMarked;
