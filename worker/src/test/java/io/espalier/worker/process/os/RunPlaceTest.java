package io.espalier.worker.process.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunPlaceTest {
  private static final RunPlace FIRST =
      new RunPlace("machine", "product", "boot", "pid:[1]", "4711");

  @Test
  void itSeesOnlyWhatRanOnTheSameMachineBootNamespaceAndDirectory() {
    assertThat(FIRST.sees(FIRST)).isTrue();
    assertThat(FIRST.sees(new RunPlace("other", "product", "boot", "pid:[1]", "4711"))).isFalse();
    assertThat(FIRST.sees(new RunPlace("machine", "other", "boot", "pid:[1]", "4711"))).isFalse();
    assertThat(FIRST.sees(new RunPlace("machine", "product", "other", "pid:[1]", "4711")))
        .isFalse();
    assertThat(FIRST.sees(new RunPlace("machine", "product", "boot", "pid:[2]", "4711"))).isFalse();
    assertThat(FIRST.sees(new RunPlace("machine", "product", "boot", "pid:[1]", "4712"))).isFalse();
    RunPlace unknown = new RunPlace("", "", "", "", "");
    assertThat(unknown.sees(unknown)).isFalse();
  }

  @Test
  void aMachineWithoutIdentityIsSeenByItsBoot() {
    RunPlace anonymous = new RunPlace("", "", "boot", "pid:[1]", "4711");
    assertThat(anonymous.sees(anonymous)).isTrue();
    assertThat(anonymous.isLaterBootOf(new RunPlace("", "", "before", "pid:[1]", "4711")))
        .isFalse();
  }

  @Test
  void aLaterBootNeedsAllOfTheMachineToBeKnownAndEqual() {
    assertThat(FIRST.isLaterBootOf(FIRST)).isFalse();
    assertThat(FIRST.isLaterBootOf(before("machine", "product", "before", "4711"))).isTrue();
    assertThat(FIRST.isLaterBootOf(before("other", "product", "before", "4711"))).isFalse();
    assertThat(FIRST.isLaterBootOf(before("machine", "other", "before", "4711"))).isFalse();
    assertThat(FIRST.isLaterBootOf(before("machine", "", "before", "4711"))).isFalse();
    assertThat(FIRST.isLaterBootOf(before("machine", "product", "", "4711"))).isFalse();
    assertThat(FIRST.isLaterBootOf(before("machine", "product", "before", "4712"))).isFalse();
  }

  @Test
  void aDirectoryIsTheSameInOneBootOrOnOneMachineForCertain() {
    assertThat(FIRST.isSameDirectoryAs(FIRST)).isTrue();
    assertThat(FIRST.isSameDirectoryAs(before("machine", "product", "boot", "4711"))).isTrue();
    assertThat(FIRST.isSameDirectoryAs(before("machine", "product", "before", "4711"))).isTrue();
    assertThat(FIRST.isSameDirectoryAs(before("machine", "other", "before", "4711"))).isFalse();
    assertThat(FIRST.isSameDirectoryAs(before("machine", "product", "boot", "4712"))).isFalse();
    RunPlace unreadable = new RunPlace("machine", "", "boot", "pid:[1]", "4711");
    assertThat(unreadable.isSameDirectoryAs(unreadable)).isTrue();
    assertThat(unreadable.isSameDirectoryAs(before("machine", "", "before", "4711"))).isFalse();
  }

  @Test
  void anEqualInodeOnAnotherDeviceIsAnotherDirectoryUnlessTheMachineWasBootedSince() {
    RunPlace here = new RunPlace("machine", "product", "boot", "pid:[1]", "2@64768");
    RunPlace snapshot = new RunPlace("machine", "product", "boot", "pid:[1]", "2@64769");
    assertThat(here.sees(here)).isTrue();
    assertThat(here.sees(snapshot)).isFalse();
    assertThat(here.isSameDirectoryAs(snapshot)).isFalse();
    assertThat(here.isLaterBootOf(before("machine", "product", "before", "2@64769"))).isTrue();
    RunPlace ofVersionBefore = new RunPlace("machine", "product", "boot", "pid:[1]", "2");
    assertThat(here.sees(ofVersionBefore)).isTrue();
    assertThat(here.isSameDirectoryAs(ofVersionBefore)).isTrue();
  }

  private static RunPlace before(String machine, String product, String boot, String directory) {
    return new RunPlace(machine, product, boot, "pid:[9]", directory);
  }

  @Test
  void aLineIsReadBackWhateverIsMissing() {
    RunPlace half = new RunPlace("", "product", "", "pid:[1]", "");
    assertThat(RunPlace.ofLine(half.toLine())).isEqualTo(half);
    assertThatThrownBy(() -> RunPlace.ofLine("a b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a b");
  }

  @Test
  void aCopyOfADirectoryIsAnotherPlace(@TempDir Path directory) throws Exception {
    Path copy = Files.createDirectory(directory.resolve("copy"));
    RunPlace here = RunPlace.here(directory);
    assertThat(here.boot()).isNotEmpty();
    assertThat(RunPlace.here(directory).sees(here)).isTrue();
    assertThat(RunPlace.here(copy).sees(here)).isFalse();
  }
}
