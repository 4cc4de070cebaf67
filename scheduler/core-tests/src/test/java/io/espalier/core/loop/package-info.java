/** The loop with its parts, without threads. */
@NullMarked
package io.espalier.core.loop;

import org.jspecify.annotations.NullMarked;
