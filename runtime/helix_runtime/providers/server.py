"""The address of a judge's server: checked, and shown without what is secret."""

import re
from typing import Any

from . import ProviderError


def checked_url(url: str) -> str:
    """Return a base URL without a slash at its end.

    Raises ProviderError where it is no http(s) URL with a host.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        # Reading the port is what finds one that is none.
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or any(ord(character) <= 32 for character in url):
        raise ProviderError(
            "bad-request",
            f"the judge's base_url must start with http:// or https://, not "
            f"{without_credentials(url)[:80]!r}",
        )
    return url.rstrip("/")


def on_this_machine(url: str) -> bool:
    """Whether the server is this machine itself, so that no key is needed."""
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host in ("localhost", "::1") or (host or "").startswith("127.")


def without_credentials(url: str) -> str:
    """Return the URL without user, password, query and fragment."""
    return re.sub(r"//[^/@]*@", "//", url).split("?")[0].split("#")[0].rstrip("/")


def tls_context(url: str | None) -> Any:
    """Return the context that verifies the server; None is the provider's own URL.

    Loading the trusted certificates takes longer than many a call. A plain `http` URL
    gets a context that trusts nobody: should it be led to `https`, it fails there.
    """
    import ssl

    if url is not None and url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context()
