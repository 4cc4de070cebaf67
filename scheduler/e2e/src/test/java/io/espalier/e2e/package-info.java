/** The program as its users drive it: real processes, from outside. */
@NullMarked
package io.espalier.e2e;

import org.jspecify.annotations.NullMarked;
