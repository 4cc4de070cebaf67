/**
 * Scheduling policies, each an order over open jobs, and worker selectors, each an order over
 * workers.
 */
@NullMarked
package io.espalier.policies;

import org.jspecify.annotations.NullMarked;
