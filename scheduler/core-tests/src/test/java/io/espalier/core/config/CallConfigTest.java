package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.jobFoo;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code call} of a job. */
class CallConfigTest {
  private static final String FULL =
      "'call': {'http': {'url': 'http://{host}:80/a/{db}?t={token}', 'method': 'PUT',"
          + " 'body': {'x': '{node}'}, 'headers': {'X-A': 'b'}, 'headers_file': '/k',"
          + " 'success': [200], 'timeout_sec': 1.5,"
          + " 'poll': {'url': 'http://{host}/i/{invocation}', 'every_sec': 1, 'up_to_sec': 5,"
          + " 'not_found': 'never_started'},"
          + " 'cancel': {'url': 'https://[::1]:8/{key}', 'method': 'POST'}},"
          + " 'idempotent': true, 'unknown_hold_sec': 0}";

  private static Config config(String members) {
    return jobFoo("", ", " + members);
  }

  private static List<Problem> problems(String members) {
    return job(config(members), "foo").problems();
  }

  @Test
  void aCallIsReadWithAllThatIsNotSaid() {
    Job job = job(config("'call': {'http': {'url': 'https://example.com/x'}}"), "foo");
    assertThat(job.problems()).isEmpty();
    CallSpec call = job.call().orElseThrow();
    assertThat(call.executor()).isEqualTo("http");
    assertThat(call.idempotent()).isFalse();
    assertThat(call.unknownHold()).isEqualTo(Duration.ofMinutes(10));
    assertThat(call.options().get("method")).isEqualTo(Json.of("POST"));
    assertThat(call.options().get("poll")).isNull();
  }

  @Test
  void whatIsExportedIsReadAsTheSame() {
    for (String members :
        new String[] {
          FULL,
          "'call': {'executor': 'soap', 'options': {'a': 1}}",
          "'call': {'http': {'url': 'http://x'}, 'idempotent': true}",
          "'call': {'http': {'url': 'https://x', 'tls': {'cert_file': '/c', 'key_file': '/k'}}}",
          "'call': {'thrift': {'host': 'x', 'port': 1, 'tls': {}, 'secret_file': '/s'}}"
        }) {
      Config config = config(members);
      Job job = job(config, "foo");
      assertThat(job.problems()).isEmpty();
      String call = String.valueOf(BistroJobWriter.toJson(job, config.settings()).get("call"));
      Job again = job(config("'call': " + call.replace('"', '\'')), "foo");
      assertThat(again.problems()).isEmpty();
      assertThat(again.call()).isEqualTo(job.call());
    }
    Config without = config("'priority': 2");
    assertThat(BistroJobWriter.toJson(job(without, "foo"), without.settings()).get("call"))
        .isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'call': 3 | expected an object",
        "'call': {} | expected \"http\", \"thrift\" or \"executor\"",
        "'call': {'http': {}} | the key is missing, expected the URL of the service",
        "'call': {'http': {'url': 'x'}} | expected a URL",
        "'call': {'http': {'url': 'ftp://x/y'}} | expected a URL",
        "'call': {'http': {'url': 'http://'}} | expected a URL",
        "'call': {'http': {'url': 'http://me:pw@h/'}} | belong in \"headers_file\"",
        "'call': {'http': {'url': 'http://h/#f'}} | expected a URL",
        "'call': {'http': {'url': 'http://h/a b'}} | expected a URL",
        "'call': {'http': {'url': 'http://{hots}/{x y}'}} | there is no placeholder {hots}",
        "'call': {'http': {'url': 'http://h/{'}} | expected a URL",
        "'call': {'http': {'url': 'http://h', 'method': 'GET'}} | cannot be sent with GET",
        "'call': {'http': {'url': 'http://h', 'method': 'po st'}} | expected an HTTP method",
        "'call': {'http': {'url': 'http://h', 'methd': 'POST'}} | did you mean \"method\"?",
        "'call': {'http': {'url': 'http://h', 'body': 7}} | an object or a text",
        "'call': {'http': {'url': 'http://h', 'headers': {'Host': 'x'}}} | set by the client itself",
        "'call': {'http': {'url': 'http://h', 'headers': {'a b': 'x'}}} | is not the name of a header",
        "'call': {'http': {'url': 'http://h', 'headers': {'cookie': 'x'}}} | this header is a secret",
        "'call': {'http': {'url': 'http://h', 'headers_file': 'x'}} | an absolute path",
        "'call': {'http': {'url': 'http://h', 'success': [99]}} | from 100 to 599",
        "'call': {'http': {'url': 'http://h', 'success': [202], 'poll': {'url': 'http://h'}}}"
            + " | cannot end the task",
        "'call': {'http': {'url': 'http://h', 'timeout_sec': 0}} | from 0.001",
        "'call': {'http': {'url': 'http://h', 'poll': {'every_sec': 3}}} | the key is missing",
        "'call': {'http': {'url': 'http://h', 'poll': {'url': 'http://h', 'not_found': 'x'}}}"
            + " | never_started",
        "'call': {'http': {'url': 'http://h', 'cancel': {}}} | the key is missing",
        "'call': {'http': {'url': 'http://h'}, 'executor': 'soap'} | remove one of the two",
        "'call': {'http': {'url': 'http://h'}, 'unknown_hold_sec': -1} | from 0",
        "'call': {'http': {'url': 'http://h'}, 'callback': {'base_url': 'http://h/x'}}"
            + " | expected a URL such as",
        "'call': {'http': {'url': 'http://h/{callback}'}} | there is no placeholder {callback}",
        "'call': {'thrift': {'host': 'h'}} | the key is missing, expected the port",
        "'call': {'thrift': {'port': 1}} | the key is missing, expected the host",
        "'call': {'thrift': {'host': '{hots}', 'port': 1}} | there is no placeholder {hots}",
        "'call': {'thrift': {'host': 'http://h', 'port': 1}} | expected a host such as",
        "'call': {'thrift': {'host': 'h', 'port': 70000}} | from 1 to 65535",
        "'call': {'thrift': {'host': 'h', 'port': 1}, 'executor': 'x'} | remove one of the two",
        "'call': {'thrift': {'host': 'h', 'port': 1, 'tls': true}} | expected an object",
        "'call': {'thrift': {'host': 'h', 'port': 1, 'tls': {'ca_fle': '/x'}}} | \"ca_file\"",
        "'call': {'thrift': {'host': 'h', 'port': 1, 'tls': {'ca_file': 'x'}}} | an absolute path",
        "'call': {'thrift': {'host': 'h', 'port': 1, 'tls': {'key_file': '/x'}}} | needs its key",
        "'call': {'thrift': {'host': 'h', 'port': 1, 'secret_file': 'x'}} | an absolute path",
        "'call': {'http': {'url': 'http://h', 'tls': {}}} | does not begin with https",
        "'status_from': 'exit_code', 'call': {'http': {'url': 'http://h'}} | has no exit code",
        "'command': ['/bin/true'], 'call': {'http': {'url': 'http://h'}} | have a command already"
      })
  void whatIsWrongIsSaid(String members, String message) {
    assertThat(problems(members.strip()))
        .filteredOn(Problem::isError)
        .isNotEmpty()
        .anySatisfy(problem -> assertThat(problem.toString()).contains(message.strip()));
  }
}
