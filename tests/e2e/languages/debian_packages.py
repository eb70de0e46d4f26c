"""Asks dpkg which Debian packages are installed, for tests that are skipped without a toolchain."""
import shutil
import subprocess


def installed_version(package):
    """The version of an installed package, or None."""
    if not shutil.which("dpkg-query"):
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package], capture_output=True, text=True, check=False)
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else None


def missing_package(packages):
    """The first of the packages that is not installed, or None."""
    return next((package for package in packages if not installed_version(package)), None)
