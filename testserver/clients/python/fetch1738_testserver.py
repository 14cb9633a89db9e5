"""Test servers of ftp, gopher, http, nntp and others for pytest and unittest; see README.md."""
import atexit, base64, contextlib, functools, json, os, shutil, subprocess, tempfile, unittest
from urllib import error, parse, request


class Control(contextlib.ExitStack):
    """A program with servers, which end with close or with this process. If program is None, it is
    the environment variable FETCH1738, or else fetch1738 in PATH; args are options of serve."""

    def __init__(self, program=None, *args):
        super().__init__()
        program = program or os.environ.get("FETCH1738") or shutil.which("fetch1738")
        if not program:
            raise unittest.SkipTest("fetch1738 is not in PATH; set FETCH1738 to the program")
        command = [program, "serve", "--control", "127.0.0.1:0", "--until-eof", *args]
        # The program ends with its standard input: kill -9 of the tests leaves no process behind.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.callback(process.communicate)  # closes its standard input, and waits
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{program} serve: ended with exit code {process.wait()}")
        start = json.loads(line)
        self.url, self._token = start["control"], start["token"]
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

    def transcripts(self):
        """Returns the transcripts of all servers, for the text of a failure."""
        try:
            return "\n".join(f"transcript of {s.url}\n{s.transcript()}" for s in self.servers)
        except (OSError, RuntimeError) as failure:
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
        pending = self._send("DELETE")["pending"]
        assert not pending, f"{self.url}: armed faults have not acted: {pending}\n{text}"


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
                getattr(failure, "add_note", print)(shared().transcripts())  # new in Python 3.11
                raise
        setattr(self, name, explained)

    def start(self, protocol, **settings):
        server = shared().start(protocol, **settings)
        self.addCleanup(server.close)
        return server


with contextlib.suppress(ImportError):  # without pytest, the rest is missing
    import pytest
    fetch1738 = pytest.fixture(shared, scope="session")

    @pytest.fixture
    def servers(fetch1738, request):
        """A function that starts servers: servers("gopher", files={…}). They end with the test."""
        def start(protocol, **settings):
            server = fetch1738.start(protocol, **settings)
            request.addfinalizer(server.close)
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
            add("fetch1738", shared().transcripts())
