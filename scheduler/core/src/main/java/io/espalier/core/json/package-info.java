/** JSON values with source positions; no parser (that is {@code espalier-json}). */
@NullMarked
package io.espalier.core.json;

import org.jspecify.annotations.NullMarked;
