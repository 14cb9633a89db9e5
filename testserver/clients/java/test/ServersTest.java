import static org.junit.jupiter.api.Assertions.*;

import io.github.fetch1738.Fetch1738;
import io.github.fetch1738.Fetch1738.Server;
import io.github.fetch1738.Fetch1738.Servers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every method of the client, at real servers. */
@ExtendWith(Fetch1738.class)
class ServersTest {
    private static final byte[] EVERY = new byte[256];
    private Server before;

    static {
        for (int i = 0; i < EVERY.length; i++) EVERY[i] = (byte) i;
    }

    @BeforeEach void start(Server server) {
        before = server;
    }

    static byte[] download(String url) throws IOException {
        try (var body = new URL(url).openStream()) {
            return body.readAllBytes();
        }
    }

    @Test void files(Servers servers) throws IOException {
        var name = "a b/\"quoted\" \\ 100% \u00fc \ud83d\ude00.txt";
        var files = Map.of(name, "tab\t\u00fc\n", "octets", EVERY);
        var server = servers.start("ftp", Map.of("files", files));
        assertEquals("tab\t\u00fc\n", new String(server.get(name), "UTF-8"));
        assertArrayEquals(EVERY, download(server.url() + "/octets"));
        server.put("empty", new byte[0]);
        server.put(name, EVERY);
        assertEquals(0, server.get("empty").length);
        assertArrayEquals(EVERY, server.get(name));
    }

    @Test void uploads(Server server) throws IOException {
        for (var name : new String[] {"a%20b", "%22%5c"}) {
            var connection = new URL(server.url() + "/" + name).openConnection();
            connection.setDoOutput(true);
            try (var out = connection.getOutputStream()) {
                out.write(EVERY);
            }
        }
        server.await();
        var uploads = server.uploads();
        assertEquals(Set.of("a b", "\"\\"), uploads.keySet());
        assertArrayEquals(EVERY, uploads.get("a b"));
        assertTrue(server.transcript().contains("C: STOR a b\n"));
        server.reset();
        assertEquals(Map.of(), server.uploads());
        assertEquals("", server.transcript());
    }

    @Test void faults(Server server) throws IOException {
        server.put("a", "hello\n".getBytes());
        server.arm("RETR", 0, Map.of("fault", "Reply", "text", "550 gone"));
        var url = server.url() + "/a";
        for (int i = 0; i < 2; i++) assertThrows(IOException.class, () -> download(url));
        server.clear();
        assertArrayEquals("hello\n".getBytes(), download(url));
    }

    @Test void faultThatDoesNotAct(Servers servers) throws IOException {
        var others = new Servers(servers.control(), new ArrayList<>());
        others.start("ftp", Map.of()).arm("RETR", 1, Map.of("fault", "Truncate", "n", 2));
        var failure = assertThrows(AssertionError.class, others::close);
        assertTrue(failure.getMessage().contains("RETR"), failure.getMessage());
    }

    @Test void errors(Servers servers, Server server) {
        var kind = IllegalStateException.class;
        var failure = assertThrows(kind, () -> servers.start("gofer", Map.of()));
        assertTrue(failure.getMessage().contains("gofer"), failure.getMessage());
        assertThrows(kind, () -> server.get("missing"));
    }

    @Test void severalServers(Servers servers, Server another) throws IOException {
        var gopher = servers.start("gopher", Map.of("files", Map.of("a", "1")));
        var http = servers.start("http", Map.of("files", Map.of("a", "2")));
        assertArrayEquals("2".getBytes(), download(http.url() + "/a"));
        assertEquals(gopher.port(), URI.create(gopher.url()).getPort());
        assertEquals(4, servers.list().size());
        assertNotEquals(before, another);
    }

    @Test void tls(Servers servers) throws Exception {
        var server = servers.start("http", Map.of("tls", "implicit", "files", Map.of("a", "1")));
        var keys = KeyStore.getInstance(KeyStore.getDefaultType());
        keys.load(null, null);
        var pem = new ByteArrayInputStream(server.ca().getBytes());
        var ca = CertificateFactory.getInstance("X.509").generateCertificate(pem);
        keys.setCertificateEntry("ca", ca);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        var tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        var request = HttpRequest.newBuilder(URI.create(server.url() + "/a")).build();
        var client = HttpClient.newBuilder().sslContext(tls).build();
        assertEquals("1", client.send(request, BodyHandlers.ofString()).body());
    }

    @Test void controlOfItsOwn() throws Exception {
        var control = new Fetch1738.Control();
        var servers = new Servers(control, new ArrayList<>());
        var server = servers.start("http", Map.of("files", Map.of("a", "1")));
        assertArrayEquals("1".getBytes(), download(server.url() + "/a"));
        control.close();
        assertThrows(ConnectException.class, () -> download(server.url() + "/a"));
    }
}
