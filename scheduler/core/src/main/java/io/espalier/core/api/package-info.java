/** The queries and commands that a scheduler offers, and their results. */
@NullMarked
package io.espalier.core.api;

import org.jspecify.annotations.NullMarked;
