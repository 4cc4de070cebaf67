/** Tests of the configuration's semantics, through the parser. */
@NullMarked
package io.espalier.core.config;

import org.jspecify.annotations.NullMarked;
