/** The contract of the HTTP interface, and what is wrong with a request by it. */
@NullMarked
package io.espalier.webui.contract;

import org.jspecify.annotations.NullMarked;
