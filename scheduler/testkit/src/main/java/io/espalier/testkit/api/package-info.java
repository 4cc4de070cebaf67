/** A scheduler made of maps, for tests of what asks one. */
@NullMarked
package io.espalier.testkit.api;

import org.jspecify.annotations.NullMarked;
