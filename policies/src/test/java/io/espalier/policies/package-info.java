@NullMarked
package io.espalier.policies;

import org.jspecify.annotations.NullMarked;
