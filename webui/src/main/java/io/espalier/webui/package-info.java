/** HTTP: Bistro's batched queries, the v1 API, events, metrics. */
@NullMarked
package io.espalier.webui;

import org.jspecify.annotations.NullMarked;
