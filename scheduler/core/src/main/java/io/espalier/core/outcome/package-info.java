/** When a job as a whole waits, runs, has succeeded or has failed (features L2, L11). Pure. */
@NullMarked
package io.espalier.core.outcome;

import org.jspecify.annotations.NullMarked;
