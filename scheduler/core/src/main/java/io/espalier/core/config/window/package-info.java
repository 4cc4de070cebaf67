/**
 * When tasks may start: windows that come again each week, and freezes (docs/windows.md). The
 * calculation follows local wall clocks, so it needs time zone data; the scheduling core only sees
 * gates and instants.
 */
@NullMarked
package io.espalier.core.config.window;

import org.jspecify.annotations.NullMarked;
