/**
 * Collections, timers and token buckets without any knowledge of scheduling.
 *
 * <p>The collections grow by a bounded amount per insertion, so no single start or end of a task is
 * slow. Time is divided into {@link io.espalier.core.scheduling.util.Ticks}.
 */
@NullMarked
package io.espalier.core.scheduling.util;

import org.jspecify.annotations.NullMarked;
