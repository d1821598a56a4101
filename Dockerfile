# One image with the server, Node 24 and ffmpeg. Start it as README.md says; /data is all it writes to.

FROM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages are programs such as ffmpeg for machines without them; this image has the distribution's.
RUN npm ci --omit=dev --omit=optional

# The code for browsers, so that no container has to bundle it. The bundler's program is an optional package, too.
FROM packages AS bundles
RUN npm ci --omit=dev
COPY src ./src
RUN node src/http/pages/build-bundles.ts && node src/cli/build-server.ts

FROM node:24-trixie-slim
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
COPY src ./src
COPY --from=bundles /app/dist ./dist

# Made here so that a new volume belongs to the server's user, and to nobody else.
RUN mkdir -m 700 /data && chown node:node /data
# As in the start script of package.json: memory that is free goes back to the system.
ENV NODE_ENV=production MILLRACE_DATA_DIR=/data \
 MILLRACE_BOOTSTRAP_SECRETS_FILE=/data/first-secrets.json \
 MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
VOLUME /data
USER node

# HTTP, RTMP, SRT and WebRTC, and the usual ports for HTTPS and RTMPS where a certificate is configured.
EXPOSE 8080 1935 6200/udp 8189/udp 8189 8443 1936

# Bash alone: a Node for each check would take a hundred times the processor time, one percent of a core.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${MILLRACE_HTTP_PORT:-8080} && printf 'GET /health/live HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" = 200 ] || exit 1"]

# Node itself is process 1 and gets SIGTERM; flags may follow the image's name.
ENTRYPOINT ["node", "--max-semi-space-size=2", "src/start.js"]
