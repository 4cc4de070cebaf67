/** What-ifs that people ask for in the page: a process of their own computes each of them. */
@NullMarked
package io.espalier.webui.whatif;

import org.jspecify.annotations.NullMarked;
