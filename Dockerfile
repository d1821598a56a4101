# One image with the server, Node 24 and ffmpeg. Start it as README.md says; /data is all it writes to.

ARG BASE=node:24.21.0-trixie-slim

FROM $BASE AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages are programs such as ffmpeg for machines without them; this image has the distribution's.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

# What runs, as it is in the npm package: nothing of it is built in a container.
FROM $BASE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The Node and the ffmpeg among the packages, which scripts of theirs would prepare, are not needed.
RUN npm ci --ignore-scripts
COPY config ./config
COPY docs ./docs
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.ts

FROM $BASE
LABEL org.opencontainers.image.title="Millrace" \
 org.opencontainers.image.description="Self-hosted live streaming and video hosting: RTMP, SRT and WebRTC in, low-latency HLS out, driven by a REST API." \
 org.opencontainers.image.version="0.2.0" \
 org.opencontainers.image.licenses="MIT"

# The graphics drivers that come with ffmpeg (200 MB) are removed.
# bubblewrap isolates ffmpeg where the container may create namespaces.
# Encoding on Intel or AMD graphics needs drivers: --build-arg VA_DRIVERS=intel-media-va-driver, or mesa-va-drivers.
ARG VA_DRIVERS=
RUN apt-get update \
 && apt-get install -y --no-install-recommends ffmpeg bubblewrap $VA_DRIVERS \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && cd /usr/lib && if [ -z "$VA_DRIVERS" ]; then \
    rm -rf *-linux-gnu*/libLLVM* *-linux-gnu*/libgallium* *-linux-gnu*/libz3* *-linux-gnu*/dri *-linux-gnu*/gbm; fi \
 && ffmpeg -loglevel error -version >/dev/null && ffprobe -loglevel error -version >/dev/null

WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY bin ./bin
COPY --from=build /app/dist ./dist

# The folder is made here so that a new volume belongs to the server's user, and to nobody else.
RUN ln -s /app/bin/millrace /usr/local/bin/millrace && mkdir -m 700 /data && chown node:node /data
ENV NODE_ENV=production MILLRACE_DATA_DIR=/data MILLRACE_CONFIG=/app/config/server.json \
 MILLRACE_BOOTSTRAP_SECRETS_FILE=/data/first-secrets.json
VOLUME /data
USER node

# HTTP, RTMP, SRT and WebRTC, and the usual ports for HTTPS and RTMPS where a certificate is configured.
EXPOSE 8080 1935 6200/udp 8189/udp 8189 8443 1936

# Bash alone: a Node for each check would take a hundred times the processor time, one percent of a core.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${MILLRACE_HTTP_PORT:-8080} && printf 'GET /health/live HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" = 200 ] || exit 1"]

# Node itself is process 1 and gets SIGTERM; a command or flags may follow the image's name.
ENTRYPOINT ["millrace"]
