/** Bistro's batched queries, without any HTTP. */
@NullMarked
package io.espalier.webui.bistro;

import org.jspecify.annotations.NullMarked;
