package io.espalier.server.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ZooKeeperTargetTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "zk1:2181/a                  | zk1:2181          | /a",
        "zk://zk1:2181/a/b/          | zk1:2181          | /a/b",
        "zk1,zk2:1,zk3/a             | zk1,zk2:1,zk3     | /a",
        "[::1]:2181,127.0.0.1:1/x    | [::1]:2181,127.0.0.1:1 | /x",
      })
  void hostsAndPathAreTakenApart(String text, String hosts, String path) {
    ZooKeeperTarget target = ZooKeeperTarget.parse(text);
    assertThat(target.hosts()).isEqualTo(hosts);
    assertThat(target.path()).isEqualTo(path);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "zk1:2181          | the path is missing",
        "zk1:2181/         | the path is missing",
        "/espalier         | is not HOST:PORT",
        "zk1:2181,/a       | is not HOST:PORT",
        "zk1:port/a        | is not HOST:PORT",
        "http://zk1/a      | is not HOST:PORT",
        "u:p@zk1:2181/a    | is not HOST:PORT",
        "zk1:2181/a//b     | not a path of ZooKeeper",
        "zk1:2181/a/../b   | not a path of ZooKeeper",
      })
  void whatIsNoneIsRefusedWithItsReason(String text, String why) {
    assertThatThrownBy(() -> ZooKeeperTarget.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @Test
  void itIsShownAsItIsWritten() {
    assertThat(ZooKeeperTarget.parse("zk://zk1:2181,zk2:2181/espalier/prod"))
        .hasToString("zk1:2181,zk2:2181/espalier/prod");
  }
}
