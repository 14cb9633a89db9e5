import static org.junit.jupiter.api.Assertions.*;

import io.github.fetch1738.Fetch1738;
import java.io.IOException;
import java.net.URL;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Fetch1738.class)
class ExampleTest {
    @Test void download(Fetch1738.Servers servers) throws IOException {
        var files = Map.of("pub/motd.txt", "hello\n");
        var server = servers.start("ftp", Map.of("files", files));
        try (var body = new URL(server.url() + "/pub/motd.txt").openStream()) {
            assertEquals("hello\n", new String(body.readAllBytes()));
        }
    }

    @Test void missing(Fetch1738.Server server) throws IOException {
        server.arm("RETR", 1, Map.of("fault", "Reply", "text", "550 gone"));
        var url = new URL(server.url() + "/motd.txt");
        assertThrows(IOException.class, () -> url.openStream().close());
    }

    @Test void upload(Fetch1738.Server server) throws IOException {
        var connection = new URL(server.url() + "/report.txt").openConnection();
        connection.setDoOutput(true);
        try (var out = connection.getOutputStream()) {
            out.write("done\n".getBytes());
        }
        server.await();
        assertArrayEquals("done\n".getBytes(), server.uploads().get("report.txt"));
    }
}
