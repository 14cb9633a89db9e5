import io.github.fetch1738.Fetch1738;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests with mistakes; interop runs them, and looks at what is printed about each. */
@ExtendWith(Fetch1738.class)
class Mistakes {
    @Test void protocol(Fetch1738.Servers servers) {
        servers.start("gofer", Map.of());
    }

    @Test void fault(Fetch1738.Server server) {
        server.arm("RETR", 1, Map.of("fault", "Trunkate"));
    }

    @Test void unusedFault(Fetch1738.Server server) {
        server.arm("RETR", 1, Map.of("fault", "Truncate", "n", 2));
    }

    @Test void port(Fetch1738.Servers servers, Fetch1738.Server server) {
        servers.start("ftp", Map.of("port", server.port()));
    }
}
