/** Task statuses, their transitions and the port of the status store. */
@NullMarked
package io.espalier.core.status;

import org.jspecify.annotations.NullMarked;
