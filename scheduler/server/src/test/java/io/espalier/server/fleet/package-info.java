@NullMarked
package io.espalier.server.fleet;

import org.jspecify.annotations.NullMarked;
