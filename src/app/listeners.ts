import { ChallengeAnswers } from '../certificates/challenge-answers.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { HttpListener, type HttpRequest, type HttpResponse } from '../http/listener/http-listener.ts';
import { HttpsRedirect } from '../http/listener/https-redirect.ts';
import { RoleGate } from '../http/listener/role-gate.ts';
import { SignalingHandler } from '../http/listener/signaling-handler.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import { SrtServer } from '../ingest/srt/srt-server.ts';
import { maxHookTimeoutSeconds } from '../shared/limits/resource-limits.ts';
import { basePathOf } from '../shared/network/base-path.ts';
import type { SignalingEndpoint } from '../shared/network/signaling.ts';
import { nodeRoles } from '../shared/node-roles.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';
import { isPlayerReport, rolesOfPath } from './path-roles.ts';
import { ingestObserver } from './publish-gate.ts';

/** Senders of SRT are never silent: without media they send a keepalive each second. */
const srtIdleTimeoutMs = 5_000;
/** Timeout of the gate, longer than a publish hook may take. */
const gateTimeoutMs = (maxHookTimeoutSeconds + 5) * 1_000;

/** Delivery, dashboard and documentation answer before the API. */
export function createHttpListener(
  { config, certificate, metrics, peers, urls, log }: Foundation,
  api: Api,
  delivery: Delivery,
  signaling: readonly SignalingEndpoint[],
): HttpListener {
  const { isSecure, isTrustedProxy, isProxy } = peers;
  const roles = config['node.roles'];
  const signalingHandler = new SignalingHandler(signaling, {
    addressOf: peers.addressOf,
    docsBase: api.docsBase,
    log: log.child('webrtc'),
    bodyTimeoutMs: config['http.requestTimeout'],
  });
  const gate = roles.length < nodeRoles.length ? new RoleGate(roles, rolesOfPath, api.docsBase) : undefined;
  const { source, ordered } = certificate ?? {};
  const answers = ordered && new ChallengeAnswers(token => ordered.keyAuthorization(token));
  const redirect =
    ordered &&
    new HttpsRedirect({
      domains: ordered.domains,
      hasCertificate: domain => ordered.isFor(domain),
      isSecure,
      port: () => httpsPortOf(urls.publicUrl()) ?? http.httpsPort,
    });
  const http = new HttpListener({
    host: config.host,
    basePath: basePathOf(config.publicUrl),
    port: config['http.port'],
    ...(source === undefined || config['https.port'] === undefined
      ? {}
      : { https: { port: config['https.port'], certificate: source } }),
    redirect,
    fast: (request, response) =>
      gate?.isOpen(request.url) === false || redirect?.targetOf(request, request.url) !== undefined
        ? false
        : delivery.handleFast(request, response),
    beforeKoa: [
      ...(answers === undefined
        ? []
        : [(request: HttpRequest, response: HttpResponse) => answers.handle(request, response)]),
      ...(gate === undefined
        ? []
        : [(request: HttpRequest, response: HttpResponse) => gate.handle(request, response)]),
      (request, response) => delivery.handle(request, response),
      (request, response) => signalingHandler.handle(request, response),
      (request, response) => api.dashboard.handle(request, response),
      (request, response) => api.docs.handle(request, response),
      (request, response) => api.unknownPages.handle(request, response),
    ],
    upgrades: roles.includes('api') ? api.upgrades : [],
    koa: api.koa,
    canWait: isPlayerReport,
    addressOf: peers.addressOf,
    docsBase: api.docsBase,
    maxConnections: config['http.maxConnections'],
    perAddress: { maxPerAddress: config['http.maxConnectionsPerAddress'], isExempt: isTrustedProxy },
    isProxy,
    connectionRefused: () =>
      metrics.connectionsDropped.inc({ side: 'viewer', reason: 'too-many-connections-of-address' }),
    allowedMethods: path =>
      delivery.allowedMethods(path) ?? signalingHandler.allowedMethods(path) ?? api.allowedMethods(path),
    ...(config['tls.hsts'] === 0
      ? {}
      : { hsts: { maxAgeSeconds: Math.floor(config['tls.hsts'] / 1_000), isSecure } }),
    log: log.child('http'),
  });
  return http;
}

/** Port at which clients reach HTTPS, as far as the public URL tells. */
function httpsPortOf(publicUrl: string): number | undefined {
  const { protocol, port } = new URL(publicUrl);
  return protocol === 'https:' ? Number(port || 443) : undefined;
}

export function createRtmpServer(
  { config, certificate, metrics, peers, log }: Foundation,
  gate: PublishGate,
): RtmpServer {
  return new RtmpServer({
    host: config.host,
    rtmpPort: config['rtmp.port'],
    ...(certificate === undefined || config['rtmps.port'] === undefined
      ? {}
      : {
          rtmps: {
            port: config['rtmps.port'],
            secureContext: () => certificate.source.secureContext(),
            onChange: listener => void certificate.source.onChange(listener),
          },
        }),
    maxConnections: config['rtmp.maxConnections'],
    perAddress: {
      maxPerAddress: config['rtmp.maxConnectionsPerAddress'],
      isExempt: peers.isTrustedProxy,
    },
    isProxy: peers.isProxy,
    handshakeTimeoutMs: config['rtmp.handshakeTimeout'],
    gateTimeoutMs,
    idleTimeoutMs: config['rtmp.idleTimeout'],
    maxMessageBytes: config['rtmp.maxMessage'],
    maxMessageRate: config['rtmp.maxMessageRate'],
    gate,
    observer: ingestObserver(metrics),
    log,
  });
}

/** Undefined when SRT is off. */
export function createSrtServer(
  { config, metrics, peers, log }: Foundation,
  gate: PublishGate,
): SrtServer | undefined {
  if (!config['srt.enabled']) return undefined;
  return new SrtServer({
    host: config.host,
    port: config['srt.port'],
    latencyMs: config['srt.latency'],
    passphrase: config['srt.passphrase']?.reveal(),
    idleTimeoutMs: srtIdleTimeoutMs,
    maxConnections: config['srt.maxConnections'],
    perAddress: { maxPerAddress: config['srt.maxConnectionsPerAddress'], isExempt: peers.isTrustedProxy },
    gate,
    observer: ingestObserver(metrics),
    log,
  });
}
