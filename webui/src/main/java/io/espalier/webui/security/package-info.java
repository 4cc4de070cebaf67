/** Who may do what over HTTP, and the record of what was done. Knows nothing of HTTP itself. */
@NullMarked
package io.espalier.webui.security;

import org.jspecify.annotations.NullMarked;
