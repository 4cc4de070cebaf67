/** Builds configurations from short texts. */
@NullMarked
package io.espalier.testkit.config;

import org.jspecify.annotations.NullMarked;
