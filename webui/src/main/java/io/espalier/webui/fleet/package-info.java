/** Many schedulers as one: asking them, joining what they say, acting on all of them. */
@NullMarked
package io.espalier.webui.fleet;

import org.jspecify.annotations.NullMarked;
