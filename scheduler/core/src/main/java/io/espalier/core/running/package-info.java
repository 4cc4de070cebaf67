/** The port through which tasks are started and killed. */
@NullMarked
package io.espalier.core.running;

import org.jspecify.annotations.NullMarked;
