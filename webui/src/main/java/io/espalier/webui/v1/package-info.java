/** The resources of {@code /api/v1}, without any HTTP. */
@NullMarked
package io.espalier.webui.v1;

import org.jspecify.annotations.NullMarked;
