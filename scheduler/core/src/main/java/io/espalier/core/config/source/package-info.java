/** Where configurations come from, and how jobs in them are edited. */
@NullMarked
package io.espalier.core.config.source;

import org.jspecify.annotations.NullMarked;
