import type { Delivery } from '../delivery/delivery.ts';
import { HttpListener, type HttpRequest, type HttpResponse } from '../http/listener/http-listener.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import { nodeRoles } from '../shared/node-roles.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';
import { RoleGate } from './role-gate.ts';

/** Delivery, dashboard and documentation answer before the API. */
export function createHttpListener(
  { config, certificate, metrics, peers, log }: Foundation,
  api: Api,
  delivery: Delivery,
): HttpListener {
  const { isSecure, isTrustedProxy } = peers;
  const roles = config['node.roles'];
  const gate = roles.length < nodeRoles.length ? new RoleGate(roles, api.docsBase) : undefined;
  return new HttpListener({
    host: config.host,
    port: config['http.port'],
    ...(certificate === undefined || config['https.port'] === undefined
      ? {}
      : { https: { port: config['https.port'], certificate } }),
    fast: (request, response) =>
      gate?.isOpen(request.url) === false ? false : delivery.handleFast(request, response),
    beforeKoa: [
      ...(gate === undefined
        ? []
        : [(request: HttpRequest, response: HttpResponse) => gate.handle(request, response)]),
      (request, response) => delivery.handle(request, response),
      (request, response) => api.dashboard.handle(request, response),
      (request, response) => api.docs.handle(request, response),
    ],
    upgrades: roles.includes('api') ? api.upgrades : [],
    koa: api.koa,
    docsBase: api.docsBase,
    maxConnections: config['http.maxConnections'],
    perAddress: { maxPerAddress: config['http.maxConnectionsPerAddress'], isExempt: isTrustedProxy },
    connectionRefused: () =>
      metrics.connectionsDropped.inc({ side: 'viewer', reason: 'too-many-connections-of-address' }),
    allowedMethods: path => delivery.allowedMethods(path) ?? api.allowedMethods(path),
    ...(config['tls.hsts'] === 0
      ? {}
      : { hsts: { maxAgeSeconds: Math.floor(config['tls.hsts'] / 1_000), isSecure } }),
    log: log.child('http'),
  });
}

export function createRtmpServer(
  { config, certificate, metrics, peers, log }: Foundation,
  registry: BroadcastRegistry,
): RtmpServer {
  return new RtmpServer({
    host: config.host,
    rtmpPort: config['rtmp.port'],
    ...(certificate === undefined || config['rtmps.port'] === undefined
      ? {}
      : {
          rtmps: {
            port: config['rtmps.port'],
            secureContext: () => certificate.secureContext(),
            onChange: listener => void certificate.onChange(listener),
          },
        }),
    maxConnections: config['rtmp.maxConnections'],
    perAddress: {
      maxPerAddress: config['rtmp.maxConnectionsPerAddress'],
      isExempt: peers.isTrustedProxy,
    },
    handshakeTimeoutMs: config['rtmp.handshakeTimeout'],
    idleTimeoutMs: config['rtmp.idleTimeout'],
    maxMessageBytes: config['rtmp.maxMessage'],
    maxMessageRate: config['rtmp.maxMessageRate'],
    gate: publishGate(registry),
    observer: {
      connectionOpened: () => metrics.ingestConnections.inc(),
      connectionClosed: reason => {
        metrics.ingestConnections.dec();
        metrics.connectionsDropped.inc({ side: 'publisher', reason });
      },
      bytesIn: count => metrics.countBytesIn(count),
      publisherOpened: () => metrics.publishers.inc(),
      publisherClosed: () => metrics.publishers.dec(),
      refused: reason => metrics.publishersRefused.inc({ reason }),
    },
    log,
  });
}

function publishGate(registry: BroadcastRegistry): PublishGate {
  return {
    request: async (request, connection) => {
      const answer = await registry.admit(request.streamKey, {
        connectionId: connection.connectionId,
        protocol: request.protocol,
        remoteAddress: connection.remoteAddress,
        encoder: request.encoder,
        refuse: description => connection.refuse(description),
        close: description => connection.close(description),
        pause: () => connection.pause(),
        resume: () => connection.resume(),
      });
      return answer.accepted ? { accepted: true, sink: answer.handler } : answer;
    },
  };
}
