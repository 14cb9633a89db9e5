package io.github.fetch1738;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.*;

import java.io.*;
import java.net.*;
import java.net.http.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.*;
import org.junit.jupiter.api.extension.ExtensionContext.*;

/** Test servers of ftp, gopher, http, nntp and others for JUnit 5; see README.md. With
 * {@code @ExtendWith(Fetch1738.class)}, methods have parameters of {@link Servers}, which starts
 * servers, and {@link Server}, an ftp server without files. The servers end with the test. If it
 * fails, its exception has their transcripts. Without the program, the tests are skipped. */
public final class Fetch1738 implements ExecutionCondition, ParameterResolver, AfterEachCallback {
    private static final Namespace SPACE = Namespace.create(Fetch1738.class);

    @Override public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext test) {
        var path = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator));
        if (System.getenv("FETCH1738") != null || path.anyMatch(dir ->
            new File(dir, "fetch1738").exists() || new File(dir, "fetch1738.exe").exists()))
            return ConditionEvaluationResult.enabled("fetch1738 is installed");
        return ConditionEvaluationResult.disabled("fetch1738 is not in PATH; set FETCH1738");
    }

    @Override public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return List.of(Servers.class, Server.class).contains(parameter.getParameter().getType());
    }

    @Override public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
        // A failure is stored, too: JUnit would print what a computation throws a second time.
        var control = test.getRoot().getStore(SPACE).getOrComputeIfAbsent(Control.class, key -> {
            try {
                return new Control();
            } catch (IOException failure) {
                return failure.getMessage();
            }
        });
        if (control instanceof String why) throw shown(new ParameterResolutionException(why));
        var servers = test.getStore(SPACE).getOrComputeIfAbsent(
            Servers.class, key -> new Servers((Control) control, new ArrayList<>()), Servers.class);
        boolean one = parameter.getParameter().getType() == Server.class;
        return one ? servers.start("ftp", Map.of()) : servers;
    }

    @Override public void afterEach(ExtensionContext test) {
        var servers = test.getStore(SPACE).get(Servers.class, Servers.class);
        if (servers != null) test.getExecutionException().ifPresent(e -> servers.list.forEach(s -> {
            var text = s.transcript();
            if (!text.isEmpty())
                e.addSuppressed(shown(new Exception("transcript of " + s.url + "\n" + text)));
        }));
    }

    /** A program, from FETCH1738 or PATH, which ends with close or with this process. */
    public static final class Control implements Store.CloseableResource {
        private final HttpClient client = HttpClient.newHttpClient();
        private final Process process;
        private final String start; // what it printed

        public Control() throws IOException {
            // It ends with its standard input: kill -9 of the tests leaves no process behind.
            var program = System.getenv().getOrDefault("FETCH1738", "fetch1738");
            var cannot = "cannot start " + program + " serve: ";
            var advice = "; set FETCH1738 to the program fetch1738";
            try {
                process = new ProcessBuilder(
                    program, "serve", "--control", "127.0.0.1:0", "--until-eof")
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            } catch (IOException failure) {
                throw new IOException(cannot + failure.getCause().getMessage() + advice);
            }
            start = process.inputReader(UTF_8).readLine();
            if (start != null && value(start, "control") != null) return;
            process.destroy();
            var why = start == null ? "it ended" : "it printed \"" + start + '"';
            throw new IOException(cannot + why + advice);
        }

        /** Sends a request of openapi.yaml; its body is bytes, a map that becomes JSON, or null. */
        public byte[] send(String method, String path, Object body) {
            var data = body instanceof byte[] raw ? raw : json(body).getBytes(UTF_8);
            var type = body instanceof byte[] ? "application/octet-stream" : "application/json";
            var request = HttpRequest.newBuilder(URI.create(value(start, "control") + path))
                .header("Authorization", "Bearer " + value(start, "token"))
                .header("Accept", path.endsWith("/transcript") ? "text/plain" : "*/*")
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofByteArray(data)).build();
            try {
                var response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                if (response.statusCode() < 300) return response.body();
                var problem = new String(response.body(), UTF_8);
                var field = Objects.requireNonNullElse(value(problem, "field"), path);
                var why = field + ": " + value(problem, "detail");
                throw shown(new IllegalStateException(why));
            } catch (IOException | InterruptedException failure) {
                var why = "no reply from fetch1738 at " + value(start, "control") + ": " + failure;
                throw shown(new IllegalStateException(why));
            }
        }

        @Override public void close() throws IOException, InterruptedException {
            process.getOutputStream().close();
            process.waitFor();
        }
    }

    /** The servers of a test. */
    public record Servers(Control control, List<Server> list) implements Store.CloseableResource {
        /** Starts a server. The settings are those of NewServer in openapi.yaml. */
        public Server start(String protocol, Map<String, ?> settings) {
            var body = new HashMap<String, Object>(settings);
            body.put("protocol", protocol);
            var about = new String(control.send("POST", "/v1/servers", body), UTF_8);
            list.add(new Server(control, value(about, "id"), value(about, "url"),
                value(about, "host"), Integer.valueOf(value(about, "port")), value(about, "ca")));
            return list.get(list.size() - 1);
        }

        /** Ends the servers. It is an error if an armed fault has not acted. */
        @Override public void close() {
            var ends = list.stream().map(Server::end).filter(end -> !end.isEmpty()).toList();
            if (!ends.isEmpty()) throw shown(new AssertionError(String.join("\n", ends)));
        }
    }

    /** A server, as in openapi.yaml; README.md describes the methods. */
    public record Server(Control control, String id, String url, String host, int port, String ca) {
        public void arm(String stage, int n, Map<?, ?>... faults) {
            send("POST", "/faults", Map.of("stage", stage, "n", n, "faults", List.of(faults)));
        }
        public Map<String, byte[]> uploads() {
            return values(text("GET", "/uploads"), "name").collect(toMap(name -> name, this::get));
        }
        public void put(String name, byte[] data) { send("PUT", "/files/" + file(name), data); }
        public byte[] get(String name) { return send("GET", "/files/" + file(name), null); }
        public void clear() { send("DELETE", "/faults", null); }
        public void reset() { send("POST", "/reset", null); }
        public void await() { send("POST", "/wait", null); }
        public String transcript() { return text("GET", "/transcript"); }
        public byte[] send(String method, String path, Object body) {
            return control.send(method, "/v1/servers/" + id + path, body);
        }
        String end() { // returns which faults have not acted, and the transcript
            var transcript = transcript();
            var pending = strings(text("DELETE", ""), "[\\[,]").collect(joining("; "));
            var advice = "; correct the stage or remove the fault\n";
            return pending.isEmpty() ? "" : (url + ": " + pending + advice + transcript).strip();
        }
        String text(String verb, String path) { return new String(send(verb, path, null), UTF_8); }
        String file(String name) { return URLEncoder.encode(name, UTF_8).replace("+", "%20"); }
    }

    private static String json(Object value) { // bytes become {"octets": base64}
        if (value == null) return "";
        if (value instanceof byte[] b)
            return json(Map.of("octets", Base64.getEncoder().encodeToString(b)));
        if (value instanceof Map<?, ?> map)
            return map.entrySet().stream().map(e -> json(e.getKey()) + ":" + json(e.getValue()))
                .collect(joining(",", "{", "}"));
        if (value instanceof Collection<?> list)
            return list.stream().map(Fetch1738::json).collect(joining(",", "[", "]"));
        if (value instanceof Number || value instanceof Boolean) return value.toString();
        return value.toString().chars().mapToObj(c -> c >= ' ' && c != '"' && c != '\\'
            ? "" + (char) c : String.format("\\u%04x", c)).collect(joining("", "\"", "\""));
    }

    // The values of a name in JSON. A quote in a string is escaped there, so only names match.
    private static Stream<String> values(String json, String name) {
        return strings(json, "\"" + name + "\":");
    }
    // The strings and numbers in JSON after a pattern.
    private static Stream<String> strings(String json, String before) {
        var value = before + " *(?:\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"|(\\d+))";
        return Pattern.compile(value).matcher(json).results().map(m -> m.group(2) != null
            ? m.group(2) : Pattern.compile("\\\\(?:u(....)|.)").matcher(m.group(1)).replaceAll(e ->
                Matcher.quoteReplacement(e.group(1) == null ? e.group().translateEscapes()
                    : "" + (char) Integer.parseInt(e.group(1), 16))));
    }
    static String value(String in, String key) { return values(in, key).findFirst().orElse(null); }

    // A failure is shown at the line of the test, without the frames of this class and its callers.
    private static <T extends Throwable> T shown(T failure) {
        var client = Pattern.compile("(java|jdk|org\\.junit|io\\.github\\.fetch1738)\\..*");
        failure.setStackTrace(Stream.of(failure.getStackTrace()).filter(frame ->
            !client.matcher(frame.getClassName()).matches()).toArray(StackTraceElement[]::new));
        return failure;
    }
}
