import io.github.fetch1738.Fetch1738;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that does not end; interop kills it, and looks whether the program ends. */
@ExtendWith(Fetch1738.class)
class Hangs {
    @Test void hangs(Fetch1738.Server server) throws Exception {
        System.out.println(server.url());
        Thread.sleep(Long.MAX_VALUE);
    }
}
