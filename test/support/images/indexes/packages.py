"""Makes packages of Composer of frameworks that Debian has, each with all that it needs, and an index of them."""

import json
import pathlib
import shutil
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
classes = pathlib.Path("/usr/share/php")
frameworks = {
    "laravel/framework": ("php-laravel-framework", "Illuminate/Foundation"),
    "symfony/framework-bundle": ("php-symfony-framework-bundle", "Symfony/Bundle/FrameworkBundle"),
}


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def needs_of(package):
    """The packages of PHP that it depends on, and itself."""
    less = [f"--no-{kind}" for kind in ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]
    listed = output_of("apt-cache", "depends", "--recurse", "--installed", *less, package).split("\n")
    return {name for name in listed if name.startswith("php-")}


packages = {}
for name, (debian, namespace) in frameworks.items():
    to = folder / name.replace("/", "-")
    for path in map(pathlib.Path, output_of("dpkg", "-L", *needs_of(debian)).split("\n")):
        if path.is_relative_to(classes) and path.is_file():
            copied = to / "php" / path.relative_to(classes)
            copied.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_bytes()
            copied.write_bytes(text.replace(b"'/usr/share/php/", b"'") if path.name == "autoload.php" else text)
    loaders = sorted({str(found.parent.relative_to(to / "php")) for found in (to / "php").rglob("autoload.php")})
    (to / "load.php").write_text(
        "<?php\nset_include_path(__DIR__ . '/php' . PATH_SEPARATOR . get_include_path());\n"
        + "".join(f"require_once '{loader}/autoload.php';\n" for loader in loaders if loader != ".")
    )
    version = output_of("dpkg-query", "-W", "-f", "${Version}", debian).split("+")[0].split("-")[0]
    about = {"name": name, "version": version, "autoload": {"files": ["load.php"]}}
    packages[name] = {version: {**about, "dist": {"type": "zip", "url": f"file://{shutil.make_archive(to, 'zip', to)}"}}}
    shutil.rmtree(to)
(folder / "packages.json").write_text(json.dumps({"packages": packages}))
