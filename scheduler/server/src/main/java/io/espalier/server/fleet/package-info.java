/**
 * {@code espalier ui}: the sources of the scheduler list, and the process that shows the
 * schedulers.
 */
@NullMarked
package io.espalier.server.fleet;

import org.jspecify.annotations.NullMarked;
