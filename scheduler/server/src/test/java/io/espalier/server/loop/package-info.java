/** The loop with its parts, without threads. */
@NullMarked
package io.espalier.server.loop;

import org.jspecify.annotations.NullMarked;
