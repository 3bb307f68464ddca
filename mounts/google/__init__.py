"""What the services of Google share: credentials, requests through google-api-python-client, batches. No provider."""
from __future__ import annotations
