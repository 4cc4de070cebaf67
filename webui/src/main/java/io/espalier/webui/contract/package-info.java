/** Checks requests against the contract of the HTTP interface. */
@NullMarked
package io.espalier.webui.contract;

import org.jspecify.annotations.NullMarked;
