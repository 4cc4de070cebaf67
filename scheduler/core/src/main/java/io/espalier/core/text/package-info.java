/** Text that comes from outside: how much work may be spent on it. */
@NullMarked
package io.espalier.core.text;

import org.jspecify.annotations.NullMarked;
