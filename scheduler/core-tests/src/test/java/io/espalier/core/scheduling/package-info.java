@NullMarked
package io.espalier.core.scheduling;

import org.jspecify.annotations.NullMarked;
