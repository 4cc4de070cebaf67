/**
 * Forecasts: a copy of the state of a scheduler, and a run of the production core from that copy in
 * virtual time (docs/adr/0076-forecasts.md).
 */
@NullMarked
package io.espalier.core.forecast;

import org.jspecify.annotations.NullMarked;
