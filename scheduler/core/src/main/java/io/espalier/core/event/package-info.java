/** Events: an ordered record of what has happened. */
@NullMarked
package io.espalier.core.event;

import org.jspecify.annotations.NullMarked;
