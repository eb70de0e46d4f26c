"""Runs replicas of the server behind HAProxy or nginx, and clients that send requests without pause.

Each replica listens at its own random address of 127.0.0.0/8. So the programs can keep the ports of deploy/, and a
restarted replica can bind its port again: no other program uses the address."""
import http.client
import json
import os
import pwd
import random
import shutil
import socket
import ssl
import subprocess
import threading
import time

from deploy import PATH, read
from harness import PATIENCE, Server
from samples import ASK, PUMA

PUMA_BODY = json.dumps(PUMA)


def loopback():
    """Draws a random address of 127.0.0.0/8 that no other program uses."""
    return "127." + ".".join(str(random.SystemRandom().randint(2, 254)) for _ in range(3))


def await_true(condition, what):
    give_up = time.monotonic() + 3 * PATIENCE
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.05)


class Replica:
    """A server at a fixed address that tests can stop and start again."""

    def __init__(self, certificates, listen, *arguments):
        self.address = loopback()
        self.arguments = (*certificates.arguments(), *(argument.format(address=self.address) for argument in arguments))
        self.listen = listen.format(address=self.address)
        self.start()

    def start(self):
        self.server = Server("--listen", f"127.0.0.1:0+plain,{self.listen}", "--trusted-proxy", "127.0.0.1", *self.arguments)

    def restart(self):
        """Stops the server by SIGTERM and starts a new one at the same address."""
        wrong = self.server.stop()
        if wrong:
            raise AssertionError(wrong)
        self.start()


class Balancer:
    """HAProxy or nginx with its configuration of deploy/; only paths and addresses are replaced."""

    def __init__(self, folder, certificates, replicas):
        self.folder, self.certificates, self.address = folder, certificates, loopback()
        self.write(replicas)
        self.log = open(os.path.join(folder, "balancer.log"), "wb")
        self.process = subprocess.Popen(self.command, cwd=folder, stdout=self.log, stderr=subprocess.STDOUT,
                                        env={**os.environ, "PATH": PATH})

    def replace(self, text, *pairs):
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        return text

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def await_listening(self):
        def listens():
            if self.process.poll() is not None:
                with open(os.path.join(self.folder, "balancer.log")) as log:
                    raise AssertionError(log.read())
            try:
                return socket.create_connection((self.address, 8443)).close() is None
            except OSError:
                return False
        await_true(listens, "the balancer listens")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def connection(self, source="127.0.0.1"):
        context = ssl.create_default_context(cafile=self.certificates.path("server.pem"))
        # the certificate names localhost, but the balancer listens at another loopback address
        context.check_hostname = False
        return http.client.HTTPSConnection(self.address, 8443, timeout=2 * PATIENCE, context=context,
                                           source_address=(source, 0))

    def ask(self, method, path, body=None, source="127.0.0.1", **headers):
        """Sends a request on a new connection and returns status, headers and body of the answer."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = self.connection(source)
        try:
            connection.request(method, path, body, {"Host": "localhost", **headers})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()


class HAProxy(Balancer):
    program = "haproxy"

    def write(self, replicas):
        folder = self.folder
        with open(os.path.join(folder, "torqued.pem"), "w") as both:
            for part in ("server.pem", "server.key"):
                with open(self.certificates.path(part)) as file:
                    both.write(file.read())
        shutil.copy(self.certificates.path("server.pem"), os.path.join(folder, "torqued-ca.pem"))
        text = self.replace(read("haproxy.cfg"), ("    user haproxy\n", ""), ("    group haproxy\n", ""), ("    log /dev/log local0\n", ""),
                            ("    log global\n", ""), ("    option httplog\n", ""), ("/run/haproxy/admin.sock", f"{folder}/admin.sock"),
                            ("/etc/haproxy/", f"{folder}/"), ("bind :443", f"bind {self.address}:8443"),
                            ("127.0.0.1:8405", f"{self.address}:8405"), ("torqued.internal", "localhost"),
                            *((f"10.0.0.1{i}:8443", f"{replica}:8443") for i, replica in enumerate(replicas, 1)))
        self.save("haproxy.cfg", text)
        self.command = ["haproxy", "-dW", "-db", "-f", "haproxy.cfg"]

    def metrics(self):
        connection = http.client.HTTPConnection(self.address, 8405, timeout=PATIENCE)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def figure(self, name, **labels):
        """Returns the value of one of HAProxy's own metrics; 0 if HAProxy does not list it."""
        for line in self.metrics().splitlines():
            if line.startswith(name + "{") and all(f'{label}="{value}"' in line for label, value in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        return 0

    def is_up(self, number):
        return self.figure("haproxy_server_status", proxy="torqued", server=f"replica{number}", state="UP") == 1

    def await_replicas(self, numbers):
        for number in numbers:
            await_true(lambda: self.is_up(number), f"replica {number} is up")

    def repeated(self):
        """Returns how many requests HAProxy has sent to a second replica."""
        return self.figure("haproxy_backend_retry_warnings_total", proxy="torqued")


class Load:
    """Clients that evaluate one state again and again through a balancer. Every answer must be 200 with the same bytes.
    A client repeats a request whose answer was cut off, and counts it."""

    def __init__(self, balancer, clients=4):
        self.balancer, self.lock, self.stopping = balancer, threading.Lock(), threading.Event()
        self.answered, self.repeated, self.failures, self.body = 0, 0, [], None
        self.threads = [threading.Thread(target=self._run) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _run(self):
        connection = self.balancer.connection()
        while not self.stopping.is_set() and not self.failures:
            try:
                self._take(*self._ask(connection))
            except http.client.IncompleteRead:
                connection.close()
                with self.lock:
                    self.repeated += 1
            except Exception as error:  # the test reports every kind of error
                self.failures.append(repr(error))
        connection.close()

    def _ask(self, connection):
        connection.request("POST", ASK, PUMA_BODY, {"Host": "localhost", "Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()

    def _take(self, status, body):
        with self.lock:
            self.body = self.body or body
            self.answered += 1
            if (status, body) != (200, self.body):
                self.failures.append(f"{status} {body[:300]!r}")

    def await_more(self, count):
        """Waits until `count` more requests have been answered."""
        goal = self.answered + count
        await_true(lambda: self.answered >= goal or self.failures, f"{count} more answers")

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


class Nginx(Balancer):
    program = "nginx"
    AROUND = """
daemon off; pid pid; error_log error.log info; {user} worker_processes 1; events {{}}
http {{
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    include site.conf;
}}
"""

    def write(self, replicas):
        text = self.replace(read("nginx-replicas.conf"), ("    listen [::]:443 ssl http2;\n", ""),
                            ("listen 443", f"listen {self.address}:8443"), ("/etc/torqued/replicas-ca.pem", "server.pem"),
                            ("/etc/torqued/certificate.pem", "server.pem"), ("/etc/torqued/key.pem", "server.key"),
                            ("/var/log/nginx/torqued.log", "torqued.log"), ("torqued.internal", "localhost"),
                            *((f"10.0.0.1{i}:8443", f"{replica}:8443") for i, replica in enumerate(replicas, 1)))
        self.save("site.conf", text)
        user = f"user {pwd.getpwuid(0).pw_name};" if os.getuid() == 0 else ""
        self.save("nginx.conf", self.AROUND.format(user=user))
        self.command = ["nginx", "-p", self.folder, "-e", "error.log", "-c", "nginx.conf"]

    def await_replicas(self, numbers):
        """Returns at once: nginx considers every replica up until a request fails."""

    def repeated(self):
        """Returns how many requests nginx has sent to more than one replica."""
        with open(os.path.join(self.folder, "torqued.log")) as log:
            return sum("," in json.loads(line)["replicas"] for line in log)
