/** The configuration as immutable typed values, with inheritance resolved. */
@NullMarked
package io.espalier.core.config;

import org.jspecify.annotations.NullMarked;
