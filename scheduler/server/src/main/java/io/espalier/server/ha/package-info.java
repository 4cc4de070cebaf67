/** Several schedulers of which one leads: election, discovery, standing by, taking over. */
@NullMarked
package io.espalier.server.ha;

import org.jspecify.annotations.NullMarked;
