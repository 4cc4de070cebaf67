/** Forecasts and what they are made of. */
@NullMarked
package io.espalier.core.forecast;

import org.jspecify.annotations.NullMarked;
