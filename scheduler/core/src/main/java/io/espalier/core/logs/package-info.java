/** The port of the task log store. */
@NullMarked
package io.espalier.core.logs;

import org.jspecify.annotations.NullMarked;
