/** JSON text to and from the core's values. */
@NullMarked
package io.espalier.json;

import org.jspecify.annotations.NullMarked;
