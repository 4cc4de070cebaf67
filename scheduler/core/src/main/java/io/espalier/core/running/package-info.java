/** The port for starting and killing tasks. */
@NullMarked
package io.espalier.core.running;

import org.jspecify.annotations.NullMarked;
