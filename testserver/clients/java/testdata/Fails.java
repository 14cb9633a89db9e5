import io.github.fetch1738.Fetch1738;
import java.net.URL;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that fails; interop runs it, and looks for the transcript in what is printed. */
@ExtendWith(Fetch1738.class)
class Fails {
    @Test void fails(Fetch1738.Server server) throws Exception {
        server.arm("RETR", 1, Map.of("fault", "Reply", "text", "550 gone"));
        new URL(server.url() + "/motd.txt").openStream().close();
    }
}
