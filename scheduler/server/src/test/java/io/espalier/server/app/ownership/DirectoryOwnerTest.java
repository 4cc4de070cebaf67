package io.espalier.server.app.ownership;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.server.app.ownership.DirectoryOwner.Kinship;
import io.espalier.worker.process.os.RunPlace;
import org.junit.jupiter.api.Test;

class DirectoryOwnerTest {
  private static final RunPlace HERE =
      new RunPlace("machine", "product", "boot", "pid:[1]", "4711");

  private static Kinship between(RunPlace owner, RunPlace applicant) {
    return DirectoryOwner.between(of("id", owner), of("id", applicant));
  }

  private static String of(String id, RunPlace place) {
    return new DirectoryOwner(id, place).toString();
  }

  @Test
  void oneDirectoryOnOneMachineIsTheSameAlsoInAnotherContainerAndAfterABoot() {
    assertThat(between(HERE, HERE)).isEqualTo(Kinship.SAME);
    assertThat(between(HERE, new RunPlace("machine", "product", "boot", "pid:[2]", "4711")))
        .isEqualTo(Kinship.SAME);
    assertThat(between(HERE, new RunPlace("machine", "product", "later", "pid:[1]", "4711")))
        .isEqualTo(Kinship.SAME);
    RunPlace unprivileged = new RunPlace("machine", "", "boot", "pid:[1]", "4711");
    assertThat(between(unprivileged, unprivileged)).isEqualTo(Kinship.SAME);
  }

  @Test
  void whatMayBeACloneOrACopyIsNotTheSame() {
    RunPlace clone = new RunPlace("machine", "other", "later", "pid:[1]", "4711");
    assertThat(between(HERE, clone)).isEqualTo(Kinship.UNPROVEN);
    RunPlace unreadable = new RunPlace("machine", "", "boot", "pid:[1]", "4711");
    RunPlace later = new RunPlace("machine", "", "later", "pid:[1]", "4711");
    assertThat(between(unreadable, later)).isEqualTo(Kinship.UNPROVEN);
    RunPlace copy = new RunPlace("machine", "product", "boot", "pid:[1]", "4712");
    assertThat(between(HERE, copy)).isEqualTo(Kinship.UNPROVEN);
    RunPlace unknown = new RunPlace("", "", "", "", "");
    assertThat(between(unknown, unknown)).isEqualTo(Kinship.UNPROVEN);
    assertThat(DirectoryOwner.between("machine m directory id", of("id", HERE)))
        .as("as earlier versions wrote it")
        .isEqualTo(Kinship.UNPROVEN);
  }

  @Test
  void anotherDirectoryAndAnotherGroupAreOthers() {
    assertThat(DirectoryOwner.between(of("id", HERE), of("other", HERE))).isEqualTo(Kinship.OTHER);
    assertThat(DirectoryOwner.between("group g", of("id", HERE))).isEqualTo(Kinship.OTHER);
    assertThat(DirectoryOwner.between(of("id", HERE), "group g")).isEqualTo(Kinship.OTHER);
    assertThat(DirectoryOwner.between("group h", "group g")).isEqualTo(Kinship.OTHER);
    assertThat(DirectoryOwner.between("group g", "group g")).isEqualTo(Kinship.SAME);
  }
}
