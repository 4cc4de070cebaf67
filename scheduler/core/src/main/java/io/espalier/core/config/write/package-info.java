/** Writes jobs and their errors in Bistro's form. */
@NullMarked
package io.espalier.core.config.write;

import org.jspecify.annotations.NullMarked;
