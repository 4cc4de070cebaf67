/** Bistro's batched queries, independent of HTTP. */
@NullMarked
package io.espalier.webui.bistro;

import org.jspecify.annotations.NullMarked;
