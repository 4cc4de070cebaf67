/** Problems in user input: collected, never thrown one at a time; and causes of failures. */
@NullMarked
package io.espalier.core.problem;

import org.jspecify.annotations.NullMarked;
