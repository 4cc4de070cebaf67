/** What operators do: kill, forgive, rerun, pause, extend, override limits, cordon workers. */
@NullMarked
package io.espalier.core.loop.command;

import org.jspecify.annotations.NullMarked;
