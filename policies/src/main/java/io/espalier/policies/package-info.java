/** Scheduling policies: each an order over open jobs. */
@NullMarked
package io.espalier.policies;

import org.jspecify.annotations.NullMarked;
