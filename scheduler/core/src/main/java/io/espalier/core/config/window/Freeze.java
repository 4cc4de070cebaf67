package io.espalier.core.config.window;

import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Days on which no task starts, whatever the windows say.
 *
 * @param from the first day
 * @param to the last day
 * @param zone the time zone of the days; empty: that of the windows beside it
 * @param reason shown to people; may be empty
 */
public record Freeze(LocalDate from, LocalDate to, Optional<ZoneId> zone, String reason) {}
