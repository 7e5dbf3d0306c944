"""Makes wheels of the packages of Debian that are installed, for pip to install them from a folder."""

import base64
import hashlib
import importlib.metadata
import pathlib
import subprocess
import sys
import zipfile

site = pathlib.Path("/usr/lib/python3/dist-packages")
wheels = pathlib.Path(sys.argv[1])
wheels.mkdir(parents=True)


def metadata_of(folder):
    return "" if folder.is_file() else "METADATA" if folder.suffix == ".dist-info" else "PKG-INFO"


def files_of(folder):
    """All that the Debian packages of a distribution have installed as modules."""
    search = subprocess.run(["dpkg", "-S", folder], capture_output=True, text=True, check=True)
    package = search.stdout.split(":")[0]
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=True)
    paths = map(pathlib.Path, listed.stdout.splitlines())
    return [path for path in paths if path.is_file() and path.is_relative_to(site)]


for distribution in importlib.metadata.distributions(path=[str(site)]):
    folder = pathlib.Path(distribution._path)
    name = distribution.metadata["Name"].replace("-", "_").replace(".", "_").lower()
    label = f"{name}-{distribution.version}"
    info = f"{label}.dist-info"
    # Of an older kind, whose list of needs is a file of its own.
    needs = [f"Requires-Dist: {need}" for need in distribution.requires or []] if folder.suffix == ".egg-info" else []
    version, rest = distribution.read_text(metadata_of(folder)).split("\n", 1)
    contents = {f"{info}/METADATA": "\n".join([version, *needs, rest]).encode()}
    for path in files_of(folder):
        inside = path.relative_to(site)
        if inside.parts[0] == folder.name and inside.name == "entry_points.txt":
            inside = pathlib.Path(info, inside.name)
        elif inside.parts[0].endswith((".dist-info", ".egg-info")):
            continue
        contents[str(inside)] = path.read_bytes()
    contents[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    with zipfile.ZipFile(wheels / f"{label}-py3-none-any.whl", "w") as wheel:
        for path, content in contents.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
