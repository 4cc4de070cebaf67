/** What a configuration would do if it came into force. */
@NullMarked
package io.espalier.core.api.plan;

import org.jspecify.annotations.NullMarked;
