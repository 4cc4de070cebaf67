package io.espalier.webui.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerListsTest {
  private static List<SchedulerAddress> good(String text) {
    Result<List<SchedulerAddress>> result = SchedulerLists.parse(text);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  @Test
  void readsEverySeparatorAndBothSchemesAndNames() {
    List<SchedulerAddress> list =
        good(
            "127.0.0.1:8080, db1=db1.example.com:8080;https://b:8443\n\n# all\n [::1]:9 # last\n"
                + "http://C.example.com/");
    assertThat(list)
        .extracting(a -> a.uri().toString())
        .containsExactly(
            "http://127.0.0.1:8080",
            "http://db1.example.com:8080",
            "https://b:8443",
            "http://[::1]:9",
            "http://c.example.com:80");
    assertThat(list)
        .extracting(SchedulerAddress::id)
        .containsExactly("127.0.0.1-8080", "db1", "b-8443", "s-1-9", "c.example.com-80");
    assertThat(list.get(3).host()).isEqualTo("::1");
    assertThat(list.get(2).isTls()).isTrue();
  }

  @Test
  void idsAreDistinctAndDoNotDependOnTheOrder() {
    List<SchedulerAddress> list = good("http://a:80 https://a:80");
    assertThat(list).extracting(SchedulerAddress::id).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nohost",
        "a:0",
        "a:70000",
        "a:99999999999",
        "a:b",
        "ftp://a:1",
        "http://a:1/x",
        "http://user:secret@a:1",
        "../x=a:1",
        "=a:1",
        "a:1/../../etc",
        "http://",
        "a_b%0d:1",
        "[::1:8080"
      })
  void aBadEntryIsAProblemWithItsPlaceAndAHint(String entry) {
    Result<List<SchedulerAddress>> result = SchedulerLists.parse("ok:1\n  " + entry);
    assertThat(result.value()).hasSize(1);
    assertThat(result.problems()).hasSize(1);
    assertThat(result.problems().get(0).at().line()).isEqualTo(2);
    assertThat(result.problems().get(0).at().column()).isEqualTo(3);
    assertThat(result.problems().get(0).hint()).isNotNull();
    assertThat(result.problems().get(0).toString()).doesNotContain("secret");
  }

  @Test
  void everyBadEntryIsReportedAndSoAreThoseThatAreThereTwice() {
    Result<List<SchedulerAddress>> result = SchedulerLists.parse("a:1 x b:99999 A:1 n=c:1 N=d:1");
    assertThat(result.problems())
        .extracting(Problem::message)
        .containsExactly(
            "the port is missing",
            "a port is from 1 to 65535",
            "this scheduler is listed twice",
            "the name is used twice");
  }

  @Test
  void thereIsABound() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i <= SchedulerLists.MOST + 1; i++) {
      text.append('h').append(i).append(":1\n");
    }
    Result<List<SchedulerAddress>> result = SchedulerLists.parse(text.toString());
    assertThat(result.value()).hasSize(SchedulerLists.MOST);
    assertThat(result.problems()).hasSize(1);
  }
}
