# A cache in front of Millrace, for Debian's Varnish (7.1 or newer): varnishd -f varnish.vcl -a :6081 -s malloc,2g
# Change the lines that end with "<-". docs/edges.md explains the rest.
vcl 4.1;

backend default {
  .host = "127.0.0.1";  # <- address of the server
  .port = "8080";  # <-
  .connect_timeout = 2s;
  # Longer than the server holds a request.
  .first_byte_timeout = 60s;
  .between_bytes_timeout = 60s;
}

# Addresses that may remove a video or live stream from the cache.
acl operators {
  "localhost";  # <-
}

sub vcl_recv {
  if (req.restarts > 0) {
    # The viewer's access was checked.
    return (hash);
  }
  # Viewers cannot set what is passed from one subroutine to the next.
  unset req.http.Edge-Key;
  unset req.http.Edge-Url;

  if (req.method == "BAN") {
    if (client.ip !~ operators || req.url !~ "^/(li|vi)[0-9A-Za-z]{22}$") {
      return (synth(405));
    }
    ban("obj.http.Edge-Key ~ " + regsub(req.url, "^/", ""));
    return (synth(200));
  }
  # The event feed of the API is a WebSocket.
  if (req.http.Upgrade ~ "(?i)websocket") {
    return (pipe);
  }
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }

  # Of the query, only the delivery directives belong to the cache key.
  set req.http.Edge-Url = regsub(req.url, "\?.*$", "");
  if (req.url ~ "/index\.m3u8\?(.*&)?_HLS_") {
    set req.http.Edge-Url = req.http.Edge-Url + "?"
      + regsub(req.url, "^.*?[?&](_HLS_msn=[^&]*).*$|^.*$", "&\1")
      + regsub(req.url, "^.*?[?&](_HLS_part=[^&]*).*$|^.*$", "&\1")
      + regsub(req.url, "^.*?[?&](_HLS_skip=[^&]*).*$|^.*$", "&\1");
  }

  # Playlists, parts and segments of public live streams, segments of public videos, and the files of the player page.
  if (req.url ~ "^/(li[0-9A-Za-z]{22}/[\w-]+/\w+/[\w.-]+|vod/vi[0-9A-Za-z]{22}/hls/\w+/[\w-]+\.(m4s|mp4)|assets/[\w.-]+)(\?|$)") {
    set req.url = req.http.Edge-Url;
    set req.http.Edge-Key = req.url;
    unset req.http.Edge-Url;
    return (hash);
  }

  # Media of private live streams and videos: each viewer is checked, and all of them share one copy. Its key has neither
  # token nor session. The first lookup is that of the viewer's access; vcl_deliver then starts again with the media.
  # A signed token (JWT) has no session.
  if (req.url ~ "^/private/[\w-]+\.[\w-]+\.[\w-]+/li[0-9A-Za-z]{22}/[\w-]+/\w+/[\w.-]+(\?|$)") {
    set req.http.Edge-Key = "private " + regsub(req.http.Edge-Url, "^/private/[^/]+/", "");
    set req.url = regsub(req.url, "^(/private/[^/]+/[^/]+)/.*$", "\1/access");
    return (hash);
  }
  if (req.url ~ "^/vod/vi[0-9A-Za-z]{22}/token/[\w-]+\.[\w-]+\.[\w-]+/hls/\w+/[\w-]+\.(m4s|mp4)(\?|$)") {
    set req.http.Edge-Key = "private " + regsub(req.http.Edge-Url, "^/vod/([^/]+)/token/[^/]+/", "\1/");
    set req.url = regsub(req.http.Edge-Url, "^(/vod/[^/]+/token/[^/]+)/.*$", "\1/access");
    return (hash);
  }
  if (req.url ~ "^/private/[0-9a-f-]{36}/li[0-9A-Za-z]{22}/avh-[\w-]{1,64}/[\w-]+/\w+/[\w.-]+(\?|$)") {
    set req.http.Edge-Key = "private " + regsub(req.http.Edge-Url, "^/private/[^/]+/([^/]+)/avh-[^/]+/", "\1/");
    set req.url = regsub(req.url, "^(/private/[^/]+/[^/]+)/avh-([^/]+)/.*$", "\1/access?avh=\2");
    return (hash);
  }
  if (req.url ~ "^/vod/vi[0-9A-Za-z]{22}/token/[0-9a-f-]{36}/hls/\w+/[\w-]+\.(m4s|mp4)\?(.*&)?avh=[\w-]{1,64}(&|$)") {
    set req.http.Edge-Url = regsub(req.url, "\?(.*&)?(avh=[\w-]+).*$", "?\2");
    set req.http.Edge-Key = "private " + regsub(req.url, "^/vod/([^/]+)/token/[^/]+/([^?]*)\?.*$", "\1/\2");
    set req.url = regsub(req.http.Edge-Url, "^(/vod/[^/]+/token/[^/]+)/[^?]*", "\1/access");
    return (hash);
  }

  # All else is never cached: multivariant playlists, pages and their events, the API, uploads and downloads.
  unset req.http.Edge-Url;
  return (pass);
}

sub vcl_hash {
  if (req.http.Edge-Key && !req.http.Edge-Url) {
    hash_data(req.http.Edge-Key);
  } else {
    # The server may admit some sites and countries only.
    hash_data("access " + req.url + " " + req.http.Origin + " " + req.http.Referer + " " + req.http.X-Forwarded-For);
  }
  return (lookup);
}

sub vcl_pipe {
  set bereq.http.Upgrade = req.http.Upgrade;
  set bereq.http.Connection = req.http.Connection;
}

sub vcl_backend_fetch {
  # Never serves a cookie's answer to others.
  if (!bereq.uncacheable) {
    unset bereq.http.Cookie;
  }
}

sub vcl_backend_response {
  # An outdated playlist is worse than an error.
  set beresp.grace = 0s;
  if (bereq.uncacheable) {
    return (deliver);
  }
  # Viewers read a part while it arrives.
  set beresp.do_stream = true;
  if (bereq.http.Edge-Key && !bereq.http.Edge-Url) {
    set beresp.http.Edge-Key = bereq.http.Edge-Key;
  }
  # A reload that was held in vain.
  if (beresp.status == 503 && beresp.http.Cache-Control ~ "s-maxage=1(,|$)") {
    set beresp.ttl = 1s;
    return (deliver);
  }
  # What is private here was checked. It is kept for five minutes at most, as what is public.
  if ((beresp.status == 200 || beresp.status == 204) && beresp.ttl > 0s && !beresp.http.Set-Cookie
    && beresp.http.Cache-Control !~ "no-store|no-cache"
    && (bereq.http.Edge-Key ~ "^private " || beresp.http.Cache-Control !~ "private")) {
    if (beresp.ttl > 300s && bereq.http.Edge-Key !~ "^/assets/") {
      set beresp.ttl = 300s;
    }
    # To ask with If-None-Match.
    set beresp.keep = 1h;
    return (deliver);
  }
  # Errors. Those who waited ask at once; a second later, requests wait for each other again.
  set beresp.uncacheable = true;
  set beresp.ttl = 1s;
  return (deliver);
}

sub vcl_deliver {
  if (req.http.Edge-Url) {
    if (resp.status == 403) {
      return (synth(403));
    }
    if (resp.status != 204) {
      return (synth(404));
    }
    set req.url = req.http.Edge-Url;
    unset req.http.Edge-Url;
    return (restart);
  }
  unset resp.http.Edge-Key;
  set resp.http.X-Cache-Status = "MISS";
  if (obj.hits > 0) {
    set resp.http.X-Cache-Status = "HIT";
  }
  return (deliver);
}

sub vcl_synth {
  set resp.http.Access-Control-Allow-Origin = "*";
  set resp.http.Cache-Control = "no-store";
  set resp.http.Content-Type = "text/plain";
  set resp.body = "";
  return (deliver);
}
