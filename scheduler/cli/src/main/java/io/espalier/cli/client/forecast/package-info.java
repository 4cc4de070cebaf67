/** Commands that forecast what a scheduler will do. */
@NullMarked
package io.espalier.cli.client.forecast;

import org.jspecify.annotations.NullMarked;
