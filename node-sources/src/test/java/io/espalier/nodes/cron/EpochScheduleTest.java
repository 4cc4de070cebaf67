package io.espalier.nodes.cron;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EpochScheduleTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "500 | -9 | 500",
        "500 | 0 | 500",
        "500 | 500 | 500",
        "500 | 501 | -1",
        "[7000000, 500] | 500 | 500",
        "[500, 7000000] | 501 | 7000000",
        "[500, 7000000] | 7000001 | -1",
        "{'start': 5000, 'period': '500'} | 0 | 5000",
        "{'start': 5000, 'period': '500'} | 5001 | 5500",
        "{'start': 5000, 'period': '500'} | 1234567890 | 1234568000",
        "{'start': 750, 'period': 300} | 92885829 | 92885850",
        "{'end': 1500, 'period': 30} | 1 | 30",
        "{'end': 1500, 'period': 30} | 1471 | 1500",
        "{'end': 1500, 'period': 30} | 1501 | -1"
      })
  void k4SecondsAreChosenByNumber(String epoch, long from, long next) {
    CronSchedule schedule = Items.schedule("{'epoch': " + epoch + "}", Items.PACIFIC);
    assertThat(Items.next(schedule, from)).isEqualTo(next);
  }

  @Test
  void nothingStandsBesideEpoch() {
    assertThat(Items.problems("{'epoch': 5, 'minute': 3, 'hours': 1, '_note': 'fine'}"))
        .containsExactlyInAnyOrder(
            "cron.minute: unknown key \"minute\"", "cron.hours: unknown key \"hours\"");
    assertThat(Items.problems("{'epoch': -1}")).singleElement().asString().contains("cron.epoch");
    assertThat(Items.problems("{'epoch': 'noon'}")).singleElement().asString().contains("name");
  }
}
