"""Test servers of ftp, gopher, http, nntp and others for pytest and unittest; see README.md."""
import atexit, base64, contextlib, functools, json, os, shutil, subprocess, tempfile, unittest
from urllib import error, parse, request

# A failure is shown at the line of the test, without the frames of this module.
__tracebackhide__ = __unittest = True  # the names that pytest and unittest look for


class Control(contextlib.ExitStack):
    """A program with servers, which end with close or with this process. If program is None, it is
    the environment variable FETCH1738, or else fetch1738 in PATH; args are options of serve."""

    def __init__(self, program=None, *args):
        super().__init__()
        program = program or os.environ.get("FETCH1738") or shutil.which("fetch1738")
        if not program:
            raise unittest.SkipTest("fetch1738 is not in PATH; set FETCH1738 to the program")
        command = [program, "serve", "--control", "127.0.0.1:0", "--until-eof", *args]
        cannot, advice = f"cannot start {program} serve", "set FETCH1738 to the program fetch1738"
        # The program ends with its standard input: kill -9 of the tests leaves no process behind.
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as failure:
            raise RuntimeError(f"{cannot}: {failure.strerror}; {advice}") from None
        self.callback(process.communicate)  # closes its standard input, and waits
        line = process.stdout.readline()
        try:
            start = json.loads(line)
            self.url, self._token = start["control"], start["token"]
        except (ValueError, LookupError, TypeError):
            self.close()
            text = line.decode("utf-8", "replace").strip()
            why = f'it printed "{text}"' if line else f"it ended with exit code {process.returncode}"
            raise RuntimeError(f"{cannot}: {why}; {advice}") from None
        self._open = request.build_opener(request.ProxyHandler({})).open
        self.servers, self.folder = [], self.enter_context(tempfile.TemporaryDirectory())

    def start(self, protocol, **settings):
        """Starts a server. The settings are those of NewServer in openapi.yaml, such as
        files={"pub/motd.txt": "hello\\n"}, tls="explicit" or settings={"readOnly": True}."""
        about = self.send("POST", "/v1/servers", {"protocol": protocol, **settings})
        self.servers.append(Server(self, about))
        return self.servers[-1]

    def send(self, method, path, body=None, accept="application/json", **query):
        """Sends a request of openapi.yaml. Bytes in a JSON body become {"octets": base64}."""
        url = f"{self.url}{path}?{parse.urlencode({k: v for k, v in query.items() if v})}"
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Accept": accept, "Content-Type": kind}
        if body is not None and not isinstance(body, bytes):
            octets = lambda value: {"octets": base64.b64encode(value).decode()}
            body = json.dumps(body, default=octets).encode()
        try:
            with self._open(request.Request(url, body, headers, method=method)) as response:
                data, kind = response.read(), response.headers.get_content_type()
                return json.loads(data) if kind == "application/json" else data
        except error.HTTPError as refusal:
            problem = json.load(refusal)
            raise RuntimeError(f"{problem.get('field', path)}: {problem['detail']}") from None
        except OSError as failure:
            why = getattr(failure, "reason", failure)
            raise RuntimeError(f"no reply from fetch1738 at {self.url}: {why}") from None

    def transcripts(self):
        """Returns the transcripts of all servers that clients have used, for the text of a failure."""
        try:
            texts = {server.url: server.transcript() for server in self.servers}
            return "\n".join(f"transcript of {url}\n{text}" for url, text in texts.items() if text)
        except RuntimeError as failure:
            return f"no transcript: {failure}"


class Server:
    """A server, with the properties of Server in openapi.yaml, such as url, host, port and ca. Its
    methods are in README.md."""

    def __init__(self, control, about):
        self.__dict__.update(about, control=control)
        self._send = lambda method, path="", *args, **query: control.send(
            method, f"/v1/servers/{self.id}{path}", *args, **query)

    def clear(self): self._send("DELETE", "/faults")
    def reset(self): self._send("POST", "/reset")
    def wait(self, timeout="10s"): self._send("POST", "/wait", timeout=timeout)
    def transcript(self): return self._send("GET", "/transcript", accept="text/plain").decode()

    def put(self, name, content, modified=None):
        content = content.encode() if isinstance(content, str) else content
        self._send("PUT", "/files/" + parse.quote(name), content, modified=modified)

    def get(self, name, user=None):
        return self._send("GET", "/files/" + parse.quote(name), user=user)

    def uploads(self, user=None):
        found = self._send("GET", "/uploads", user=user)["uploads"]
        return {upload["name"]: self.get(upload["name"], user) for upload in found}

    def arm(self, stage, n, *faults):
        self._send("POST", "/faults", {"stage": stage, "n": n, "faults": faults})

    def ca_file(self):
        with open(os.path.join(self.control.folder, self.id + ".pem"), "w") as file:
            file.write(self.ca)
        return file.name

    def close(self):
        text = self.transcript()
        self.control.servers.remove(self)
        pending = "; ".join(self._send("DELETE")["pending"])
        if pending:
            advice = "correct the stage or remove the fault"
            raise AssertionError(f"{self.url}: {pending}; {advice}\n{text}".rstrip())


@functools.lru_cache(None)
def shared():
    """Returns the program that all tests of this process share."""
    control = Control()
    atexit.register(control.close)
    return control


class ServersMixin:
    """Starts servers for a unittest.TestCase. The text of a failure has their transcripts."""

    def __init__(self, name="runTest"):
        super().__init__(name)
        test = getattr(self, name)
        @functools.wraps(test)
        def explained():
            try:
                test()
            except Exception as failure:
                text = shared().transcripts()
                if text:
                    getattr(failure, "add_note", print)(text)  # add_note is new in Python 3.11
                raise
        setattr(self, name, explained)

    def start(self, protocol, **settings):
        server = shared().start(protocol, **settings)
        self.addCleanup(server.close)
        return server


with contextlib.suppress(ImportError):  # without pytest, the rest is missing
    import pytest

    def plain(function):
        """Returns the function with failures that have no traceback: no line of a test is in it."""
        @functools.wraps(function)
        def call():
            try:
                return function()
            except (RuntimeError, AssertionError) as failure:
                raise pytest.fail.Exception(str(failure), pytrace=False) from None
        return call

    fetch1738 = pytest.fixture(plain(shared), scope="session")

    @pytest.fixture
    def servers(fetch1738, request):
        """A function that starts servers: servers("gopher", files={…}). They end with the test."""
        def start(protocol, **settings):
            server = fetch1738.start(protocol, **settings)
            request.addfinalizer(plain(server.close))
            return server
        return start

    @pytest.fixture
    def ftp_server(servers):
        """An ftp server without files."""
        return servers("ftp")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        report = (yield).get_result()
        add = getattr(report.longrepr, "addsection", None)
        if report.failed and add and shared.cache_info().currsize and shared().servers:
            text = shared().transcripts()
            if text:
                add("fetch1738", text)
