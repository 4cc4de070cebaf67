/**
 * Determines when a job as a whole waits, runs, has succeeded or has failed
 * (docs/design/features.md#states-of-jobs). Pure.
 */
@NullMarked
package io.espalier.core.outcome;

import org.jspecify.annotations.NullMarked;
