package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.object;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.optional;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.CallTls;
import io.espalier.core.config.task.HttpCall;
import io.espalier.core.config.task.ThriftCall;
import io.espalier.core.json.Json;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The keys of tasks that call a service (docs/calls.md). */
public final class CallKeys {
  /** The name of calls over HTTP. */
  public static final String HTTP_EXECUTOR = "http";

  /** The name of calls over Thrift. */
  public static final String THRIFT_EXECUTOR = "thrift";

  private static final double MOST_SECONDS = 86_400;
  private static final Pattern BASE_URL = Pattern.compile("https?://[^/?#@{}% <>]+");
  private static final Set<String> REPEATED = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
  private static final HttpCall.Poll USUAL_POLL =
      new HttpCall.Poll(
          "", Duration.ofSeconds(2), Duration.ofSeconds(30), HttpCall.NotFound.UNKNOWN);
  private static final HttpCall USUAL_HTTP =
      new HttpCall(
          "",
          "POST",
          Optional.empty(),
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          Duration.ofSeconds(60),
          Optional.empty(),
          Optional.empty());

  private static final ThriftCall USUAL_THRIFT =
      new ThriftCall(
          "",
          0,
          Duration.ofSeconds(60),
          Duration.ofSeconds(2),
          Duration.ofSeconds(30),
          HttpCall.NotFound.UNKNOWN,
          Optional.empty(),
          Optional.empty());

  private CallKeys() {}

  /**
   * Reads the options of a call, for those that make it.
   *
   * @throws IllegalArgumentException when they cannot be used
   */
  public static <T> T read(Section<T> section, Json.Obj options) {
    Problems problems = new Problems();
    Names names = new Names(List.of(), List.of(), List.of());
    T call =
        section.read(
            new ConfigValue(options, ProblemPath.ROOT.key(section.name()), problems, names),
            section.usual());
    if (call == null || problems.errors() > 0) {
      throw new IllegalArgumentException("the options cannot be used: " + problems.sorted());
    }
    return call;
  }

  /** {@code call.http.poll}. */
  public static final Section<HttpCall.Poll> POLL =
      new Section<>("poll", "How to ask a service about a call.", USUAL_POLL) {
        private final Key<HttpCall.Poll, String> url =
            key("url", CallTypes.url(), HttpCall.Poll::url, "Requested with GET.")
                .required("the URL that tells the state of a call");
        private final Key<HttpCall.Poll, Duration> every =
            key(
                "every_sec",
                seconds(0.001, MOST_SECONDS),
                HttpCall.Poll::every,
                "Wait before the second question; each later one is half as long again.");
        private final Key<HttpCall.Poll, Duration> upTo =
            key(
                "up_to_sec",
                seconds(0.001, MOST_SECONDS),
                HttpCall.Poll::upTo,
                "Longest wait between two questions.");
        private final Key<HttpCall.Poll, HttpCall.NotFound> notFound =
            key(
                "not_found",
                oneOf(List.of(HttpCall.NotFound.values()), HttpCall.NotFound::label),
                HttpCall.Poll::notFound,
                "What 404 and 410 mean. `unknown`: nothing, the call may still arrive;"
                    + " `never_started`: it was never carried out, and the service refuses it from"
                    + " then on, so that the task may be tried again.");

        @Override
        public HttpCall.@Nullable Poll read(ConfigObject in, HttpCall.Poll base) {
          String to = in.read(url, base);
          Duration first = in.get(every, base);
          Duration most = in.get(upTo, base);
          HttpCall.NotFound meaning = in.get(notFound, base);
          return to == null
              ? null
              : new HttpCall.Poll(to, first, most.compareTo(first) < 0 ? first : most, meaning);
        }
      };

  /** {@code call.http.cancel}. */
  public static final Section<HttpCall.Cancel> CANCEL =
      new Section<>(
          "cancel", "How to tell a service to cancel a call.", new HttpCall.Cancel("", "DELETE")) {
        private final Key<HttpCall.Cancel, String> url =
            key("url", CallTypes.url(), HttpCall.Cancel::url, "Requested to end the call.")
                .required("the URL that cancels a call");
        private final Key<HttpCall.Cancel, String> method =
            key("method", CallTypes.method(), HttpCall.Cancel::method, "Its HTTP method.");

        @Override
        public HttpCall.@Nullable Cancel read(ConfigObject in, HttpCall.Cancel base) {
          String to = in.read(url, base);
          String how = in.get(method, base);
          return to == null ? null : new HttpCall.Cancel(to, how);
        }
      };

  /** {@code call.http}. */
  public static final Section<HttpCall> HTTP =
      new Section<>("http", "A call over HTTP or HTTPS, which is sent once.", USUAL_HTTP) {
        private final Key<HttpCall, String> url =
            key("url", CallTypes.url(), HttpCall::url, "Where the call is sent.")
                .required("the URL of the service");
        private final Key<HttpCall, String> method =
            key("method", CallTypes.method(), HttpCall::method, "Its HTTP method.");
        private final Key<HttpCall, Optional<Json>> body =
            key(
                    "body",
                    CallTypes.body(),
                    HttpCall::body,
                    "What is sent: an object, in whose texts placeholders are replaced, or a text."
                        + " Without it, the JSON argument that a process would get.")
                .writtenUnless(Optional.empty());
        private final Key<HttpCall, Map<String, String>> headers =
            key(
                    "headers",
                    CallTypes.headers(),
                    HttpCall::headers,
                    "`{NAME: value}`: further headers; not for secrets.")
                .writtenUnless(Map.of());
        private final Key<HttpCall, Optional<String>> headersFile =
            key(
                    "headers_file",
                    CallTlsKeys.file(),
                    HttpCall::headersFile,
                    "A file of `Name: value` lines, for what is secret: read at each request, on the"
                        + " host that sends it.")
                .writtenUnless(Optional.empty());
        private final Key<HttpCall, Optional<CallTls>> tls =
            key(
                    "tls",
                    optional(CallTlsKeys.TLS.type(), CallTls.USUAL),
                    HttpCall::tls,
                    "Which certificates count for URLs that begin with https; without it, those"
                        + " that Java trusts.")
                .writtenUnless(Optional.empty());
        private final Key<HttpCall, List<Integer>> success =
            key(
                    "success",
                    list(int32(100, 599), 200),
                    HttpCall::success,
                    "HTTP statuses that mean that the task has ended; without it, all from 200 to"
                        + " 299 but 202.")
                .writtenUnless(List.of());
        private final Key<HttpCall, Duration> timeout =
            key(
                "timeout_sec",
                seconds(0.001, MOST_SECONDS),
                HttpCall::timeout,
                "How long one request may take, whichever it is.");
        private final Key<HttpCall, Optional<HttpCall.Poll>> poll =
            key(
                    "poll",
                    optional(POLL.type(), USUAL_POLL),
                    HttpCall::poll,
                    "How to ask about a call, for services that answer 202 and go on, and for calls"
                        + " whose answer was lost.")
                .writtenUnless(Optional.empty());
        private final Key<HttpCall, Optional<HttpCall.Cancel>> cancel =
            key(
                    "cancel",
                    optional(CANCEL.type(), CANCEL.usual()),
                    HttpCall::cancel,
                    "How to cancel a call; without it, a call cannot be killed.")
                .writtenUnless(Optional.empty());

        @Override
        public @Nullable HttpCall read(ConfigObject in, HttpCall base) {
          String to = in.read(url, base);
          HttpCall call =
              new HttpCall(
                  to == null ? "" : to,
                  in.get(method, base),
                  in.get(body, base),
                  in.get(headers, base),
                  in.get(headersFile, base),
                  in.get(tls, base),
                  in.get(success, base),
                  in.get(timeout, base),
                  in.get(poll, base),
                  in.get(cancel, base));
          if (REPEATED.contains(call.method())) {
            ConfigValue given = in.find(method);
            (given == null ? in.value() : given)
                .error(
                    "a call cannot be sent with " + call.method(),
                    "HTTP may repeat such a request, and a call is sent once; use POST or PUT");
          }
          ConfigValue secured = in.find(tls);
          if (secured != null && to != null && !to.startsWith("https:")) {
            secured.error(
                "the URL of the service does not begin with https, so there is no TLS",
                "begin \"url\" with https, or remove \"tls\"");
          }
          ConfigValue statuses = in.find(success);
          if (statuses != null
              && call.success().contains(HttpCall.ACCEPTED)
              && call.poll().isPresent()) {
            statuses.error(
                "202 says that the service goes on with the call, so it cannot end the task",
                "remove 202, or \"poll\"");
          }
          return to == null ? null : call;
        }
      };

  /** {@code call.thrift}. */
  public static final Section<ThriftCall> THRIFT =
      new Section<>(
          "thrift", "A call over Thrift, of an agent as `agent.thrift` says.", USUAL_THRIFT) {
        private final Key<ThriftCall, String> host =
            key(
                    "host",
                    CallTypes.host(),
                    ThriftCall::host,
                    "Where the agent listens; may have placeholders.")
                .required("the host of the agent");
        private final Key<ThriftCall, Integer> port =
            key("port", int32(1, 65_535), ThriftCall::port, "The port on which it listens.")
                .required("the port of the agent");
        private final Key<ThriftCall, Duration> timeout =
            key(
                "timeout_sec",
                seconds(0.001, MOST_SECONDS),
                ThriftCall::timeout,
                "How long one request may take, whichever it is.");
        private final Key<ThriftCall, Duration> every =
            key(
                "every_sec",
                seconds(0.001, MOST_SECONDS),
                ThriftCall::every,
                "Wait before the second question; each later one is half as long again.");
        private final Key<ThriftCall, Duration> upTo =
            key(
                "up_to_sec",
                seconds(0.001, MOST_SECONDS),
                ThriftCall::upTo,
                "Longest wait between two questions.");
        private final Key<ThriftCall, HttpCall.NotFound> notFound =
            key(
                "not_found",
                oneOf(List.of(HttpCall.NotFound.values()), HttpCall.NotFound::label),
                ThriftCall::notFound,
                "What `NOT_FOUND` means, as 404 does for a call over HTTP.");
        private final Key<ThriftCall, Optional<CallTls>> tls =
            key(
                    "tls",
                    optional(CallTlsKeys.TLS.type(), CallTls.USUAL),
                    ThriftCall::tls,
                    "That the agent speaks TLS, and which certificates count: `{}` stands for those"
                        + " that Java trusts. Without it, nothing is encrypted.")
                .writtenUnless(Optional.empty());
        private final Key<ThriftCall, Optional<String>> secretFile =
            key(
                    "secret_file",
                    CallTlsKeys.file(),
                    ThriftCall::secretFile,
                    "A file whose text goes with each request as its `secret`, so that the agent"
                        + " knows who calls: read at each request, on the host that sends it.")
                .writtenUnless(Optional.empty());

        @Override
        public @Nullable ThriftCall read(ConfigObject in, ThriftCall base) {
          String at = in.read(host, base);
          Integer on = in.read(port, base);
          Duration within = in.get(timeout, base);
          Duration first = in.get(every, base);
          Duration most = in.get(upTo, base);
          HttpCall.NotFound meaning = in.get(notFound, base);
          return at == null || on == null
              ? null
              : new ThriftCall(
                  at,
                  on,
                  within,
                  first,
                  most.compareTo(first) < 0 ? first : most,
                  meaning,
                  in.get(tls, base),
                  in.get(secretFile, base));
        }
      };

  /** {@code call.callback}. */
  public static final Section<CallSpec.Callback> CALLBACK =
      new Section<>(
          "callback",
          "That a service reports the end of a call by itself.",
          new CallSpec.Callback("")) {
        private final Key<CallSpec.Callback, String> baseUrl =
            key(
                    "base_url",
                    text(BASE_URL, "expected a URL such as \"https://espalier.example:8080\""),
                    CallSpec.Callback::baseUrl,
                    "How the service reaches the schedulers, where that is not the address on which"
                        + " the one that starts the call listens: behind a proxy, or in a group.")
                .writtenUnless("");

        @Override
        public CallSpec.Callback read(ConfigObject in, CallSpec.Callback base) {
          return new CallSpec.Callback(in.get(baseUrl, base));
        }
      };

  /** {@code call} of a job. */
  public static final Section<CallSpec> CALL =
      new Section<>(
          "call",
          "A call of a service that the task is, instead of a process.",
          new CallSpec("", Json.Obj.EMPTY, false, CallSpec.DEFAULT_HOLD)) {
        private final Key<CallSpec, Optional<Json.Obj>> http =
            key(
                    HTTP_EXECUTOR,
                    optional(normalised(HTTP), Json.Obj.EMPTY),
                    spec -> optionsOf(spec, HTTP_EXECUTOR),
                    "A call over HTTP.")
                .writtenIf((spec, inherited) -> spec.executor().equals(HTTP_EXECUTOR));
        private final Key<CallSpec, Optional<Json.Obj>> thrift =
            key(
                    THRIFT_EXECUTOR,
                    optional(normalised(THRIFT), Json.Obj.EMPTY),
                    spec -> optionsOf(spec, THRIFT_EXECUTOR),
                    "A call over Thrift.")
                .writtenIf((spec, inherited) -> spec.executor().equals(THRIFT_EXECUTOR));
        private final Key<CallSpec, String> executor =
            key(
                    "executor",
                    text().says("name"),
                    CallSpec::executor,
                    "The name of a plug-in that makes another kind of call.")
                .writtenIf((spec, inherited) -> isPlugIn(spec));
        private final Key<CallSpec, Optional<Json.Obj>> options =
            key(
                    "options",
                    optional(object(), Json.Obj.EMPTY),
                    spec -> optionsOf(spec, spec.executor()),
                    "The options of that plug-in.")
                .writtenIf((spec, inherited) -> isPlugIn(spec));
        private final Key<CallSpec, Boolean> idempotent =
            key(
                "idempotent",
                bool(),
                CallSpec::idempotent,
                "Whether the service carries out only once what it gets several times with the same"
                    + " `{key}`: then a call of unknown outcome is sent again.");
        private final Key<CallSpec, Duration> unknownHold =
            key(
                "unknown_hold_sec",
                seconds(0, 30 * MOST_SECONDS),
                CallSpec::unknownHold,
                "How long a call that the service was asked about and does not confirm keeps its"
                    + " slots; then the task has failed, and is not tried again unless it is"
                    + " `idempotent`. Whoever takes over the call, such as a scheduler after a"
                    + " restart, begins to count at 0.");
        private final Key<CallSpec, Optional<CallSpec.Callback>> callback =
            key(
                    "callback",
                    optional(CALLBACK.type(), CALLBACK.usual()),
                    CallSpec::callback,
                    "That the service reports the end of a call at the URL that comes with it,"
                        + " `{callback}`; `poll` is then the fallback, at its longest wait.")
                .writtenUnless(Optional.empty());

        {
          rules(
              "{'oneOf': [{'required': ['http']}, {'required': ['thrift']}, {'required': ['executor']}]}");
        }

        @Override
        public @Nullable CallSpec read(ConfigObject in, CallSpec base) {
          List<ConfigValue> said =
              Stream.of(in.find(http), in.find(thrift), in.find(executor))
                  .filter(Objects::nonNull)
                  .toList();
          Optional<Json.Obj> httpOptions = in.get(http, base);
          Optional<Json.Obj> thriftOptions = in.get(thrift, base);
          String name = in.get(executor, base);
          Json.Obj others = in.get(options, base).orElse(Json.Obj.EMPTY);
          boolean again = in.get(idempotent, base);
          Duration hold = in.get(unknownHold, base);
          Optional<CallSpec.Callback> back = in.get(callback, base);
          if (said.size() > 1) {
            said.get(1).error("it is said already how the call is made", "remove one of the two");
            return null;
          }
          if (in.find(http) != null) {
            return httpOptions
                .map(json -> new CallSpec(HTTP_EXECUTOR, json, again, hold, back))
                .orElse(null);
          }
          if (in.find(thrift) != null) {
            return thriftOptions
                .map(json -> new CallSpec(THRIFT_EXECUTOR, json, again, hold, back))
                .orElse(null);
          }
          if (name.isEmpty()) {
            in.value()
                .error("expected \"http\", \"thrift\" or \"executor\": how the call is made", null);
            return null;
          }
          return new CallSpec(name, others, again, hold, back);
        }
      };

  private static Optional<Json.Obj> optionsOf(CallSpec spec, String executor) {
    return spec.executor().equals(executor) && !executor.isEmpty()
        ? Optional.of(spec.options())
        : Optional.empty();
  }

  private static boolean isPlugIn(CallSpec spec) {
    return !Set.of(HTTP_EXECUTOR, THRIFT_EXECUTOR).contains(spec.executor());
  }

  /** Options of a call, checked, with all that is not said. */
  static <T> ValueType<Json.Obj> normalised(Section<T> section) {
    return new ValueType<>(
        (value, base) -> {
          T call = section.read(value, section.usual());
          return call == null ? null : section.write(call);
        },
        (options, inherited, names) -> options,
        "object",
        section.type().schema());
  }
}
