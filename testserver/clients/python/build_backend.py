"""Builds the wheel for pip (PEP 517, PEP 660): one module, and its entry point for pytest."""
import base64, hashlib, pathlib, zipfile

FOLDER = pathlib.Path(__file__).parent
RELEASE = "fetch1738_testserver-0.1.0"
METADATA = """Metadata-Version: 2.1
Name: fetch1738-testserver
Version: 0.1.0
Summary: Test servers of ftp, gopher, http, nntp and others for pytest and unittest
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""


def write_wheel(folder, files):
    """Writes a wheel with the files, whose texts are given by name, and returns its name."""
    about = RELEASE + ".dist-info/"
    files = {
        **files,
        about + "METADATA": METADATA + (FOLDER / "README.md").read_text("utf-8"),
        about + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        about + "entry_points.txt": "[pytest11]\nfetch1738_testserver = fetch1738_testserver\n",
    }
    record = about + "RECORD"
    lines = [f"{path},sha256={digest(text)},{len(text.encode())}\n" for path, text in files.items()]
    files[record] = "".join(lines) + f"{record},,\n"
    name = RELEASE + "-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name


def digest(text):
    sum = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(sum).decode().rstrip("=")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "fetch1738_testserver.py"
    return write_wheel(wheel_directory, {name: (FOLDER / name).read_text("utf-8")})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"fetch1738_testserver.pth": f"{FOLDER}\n"})


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no source distribution; use pip wheel or pip install")
