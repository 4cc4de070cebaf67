/** The JSON of the API: what the resources answer with (docs/rest.md). */
@NullMarked
package io.espalier.webui.v1.json;

import org.jspecify.annotations.NullMarked;
