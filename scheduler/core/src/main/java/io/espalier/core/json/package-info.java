/**
 * JSON values with source positions, and which of them may be secrets; no parser (that is {@code
 * espalier-json}).
 */
@NullMarked
package io.espalier.core.json;

import org.jspecify.annotations.NullMarked;
