/** When to try again. */
@NullMarked
package io.espalier.core.pace;

import org.jspecify.annotations.NullMarked;
