/**
 * {@code espalier ui}: where the list of schedulers comes from, and the process that shows them.
 */
@NullMarked
package io.espalier.server.fleet;

import org.jspecify.annotations.NullMarked;
