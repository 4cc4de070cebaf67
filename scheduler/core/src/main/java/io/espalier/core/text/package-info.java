/** Text from untrusted sources: limits the work spent on it. */
@NullMarked
package io.espalier.core.text;

import org.jspecify.annotations.NullMarked;
