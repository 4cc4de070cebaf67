/** The scheduler loop: one method, no thread. */
@NullMarked
package io.espalier.core.loop;

import org.jspecify.annotations.NullMarked;
