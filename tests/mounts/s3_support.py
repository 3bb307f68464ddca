"""moto's S3 over HTTP on loopback."""
from __future__ import annotations

import contextlib
import logging
import re

from mirage.mounts.s3 import build
from mirage.vfs.secrets import Secret


class S3Key(Secret):
    """A key with a text; what is printed of it is its name."""

    __slots__ = ()
    TEXT = "AKIDCANARY0123456789"

    def __init__(self) -> None:
        super().__init__("env:S3_TEST_KEY")

    def reveal(self) -> str:
        return self.TEXT


class S3:
    def __enter__(self):
        from moto.server import ThreadedMotoServer
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.address = "http://{}:{}".format(*self.server.get_host_and_port())
        import boto3
        self.client = boto3.client("s3", endpoint_url=self.address, aws_access_key_id="x", aws_secret_access_key="x",
                                   region_name="us-east-1")
        return self

    def __exit__(self, *exc):
        self.server.stop()

    @contextlib.contextmanager
    def requests(self):
        """A list of `METHOD /path?query` of the requests that the server gets meanwhile."""
        seen = []

        class Keep(logging.Handler):
            def emit(self, record):
                found = re.search(r'([A-Z]+ \S+) HTTP', record.getMessage())
                if found:
                    seen.append(found.group(1))

        log, handler = logging.getLogger("werkzeug"), Keep()
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        try:
            yield seen
        finally:
            log.setLevel(logging.ERROR)
            log.removeHandler(handler)

    def reset(self, objects):
        """Only these objects: BUCKET/KEY -> content."""
        import httpx
        httpx.post(self.address + "/moto-api/reset", trust_env=False).raise_for_status()
        client = self.client
        for bucket in {path.partition("/")[0] for path in objects}:
            client.create_bucket(Bucket=bucket)
        for path, data in objects.items():
            bucket, _, key = path.partition("/")
            client.put_object(Bucket=bucket, Key=key, Body=data)

    def mount(self, bucket, **options):
        return build(bucket, S3Key(), S3Key(), endpoint=self.address, region="us-east-1", **options)
