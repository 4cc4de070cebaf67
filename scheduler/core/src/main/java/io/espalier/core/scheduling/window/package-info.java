/**
 * Windows and freezes: which nodes they close, and what people are told of them
 * (docs/adr/0070-windows.md). The loop and forecasts use the same code.
 */
@NullMarked
package io.espalier.core.scheduling.window;

import org.jspecify.annotations.NullMarked;
