/** Commands that change something. */
@NullMarked
package io.espalier.cli.client.operate;

import org.jspecify.annotations.NullMarked;
