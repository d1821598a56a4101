import { isIP } from 'node:net';
import { WhepEndpoint } from '../delivery/whep/whep-endpoint.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { WhipEndpoint } from '../ingest/whip/whip-endpoint.ts';
import { messageOf } from '../shared/errors.ts';
import { basePathOf } from '../shared/network/base-path.ts';
import { machineAddresses } from '../webrtc/ice/ice-candidates.ts';
import { maxUnconnectedPerAddress, UnconnectedOffers } from '../webrtc/unconnected-offers.ts';
import { WebRtcServer } from '../webrtc/webrtc-server.ts';
import { type DeliveryDependencies, deliveryObserver } from './delivery.ts';
import type { Foundation } from './foundation.ts';
import { ingestObserver } from './publish-gate.ts';

/** Undefined where WebRTC is turned off. */
export function createWebRtcServer(foundation: Foundation): WebRtcServer | undefined {
  const { config, peers, log } = foundation;
  if (!config['webrtc.enabled']) return undefined;
  return new WebRtcServer({
    host: config.host,
    port: config['webrtc.port'],
    addresses: () => announcedAddresses(foundation),
    maxConnections: config['rtmp.maxConnections'],
    perAddress: {
      maxPerAddress: config['rtmp.maxConnectionsPerAddress'],
      isExempt: peers.isTrustedProxy,
    },
    log,
  });
}

export function createWhipEndpoint(
  { config, metrics, peers, log }: Foundation,
  webRtc: WebRtcServer,
  gate: PublishGate,
): WhipEndpoint {
  return new WhipEndpoint({
    webRtc,
    gate,
    observer: ingestObserver(metrics),
    unconnected: new UnconnectedOffers({
      maxPerAddress: maxUnconnectedPerAddress,
      isExempt: peers.isTrustedProxy,
    }),
    sessionBase: config['node.url'] ?? basePathOf(config.publicUrl),
    canEncode: config['live.packager'] !== 'ffmpeg',
    log,
  });
}

/** Undefined where WebRTC is turned off. @param webRtc of a server that packages broadcasts */
export function createWhepEndpoint(
  { config, metrics, peers, clock, log }: Foundation,
  webRtc: WebRtcServer | undefined,
  { api, broadcasts, viewers, playback }: DeliveryDependencies,
): WhepEndpoint | undefined {
  if (!config['webrtc.enabled']) return undefined;
  return new WhepEndpoint({
    webRtc,
    viewers,
    playback,
    clock,
    log,
    source: broadcasts.services.rtpFeeds,
    live: broadcasts.cluster ?? broadcasts.registry,
    streams: {
      find: liveStreamId => api.liveStreams.findForViewers(liveStreamId),
      thumbnailPath: liveStreamId => api.liveStreams.thumbnailPath(liveStreamId),
    },
    observer: deliveryObserver(metrics, api),
    maxViewers: config['whep.maxViewers'],
    perAddress: {
      maxPerAddress: config['http.maxConnectionsPerAddress'],
      isExempt: peers.isTrustedProxy,
    },
    unconnected: new UnconnectedOffers({
      maxPerAddress: Math.min(maxUnconnectedPerAddress, Math.ceil(config['whep.maxViewers'] / 4)),
      isExempt: peers.isTrustedProxy,
    }),
    sessionBase: config['node.url'] ?? basePathOf(config.publicUrl),
  });
}

/** Returns the addresses of the settings, or else those of the public URL and of this machine. */
async function announcedAddresses(foundation: Foundation): Promise<string[]> {
  const { config } = foundation;
  const configured = config['webrtc.addresses'];
  if (configured !== undefined) return resolveAll(foundation, configured);
  const isEveryAddress = config.host === '0.0.0.0' || config.host === '::';
  if (!isEveryAddress) return resolveAll(foundation, [config.host]);
  const { publicUrl } = config;
  const named = publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')];
  return [...(await resolveAll(foundation, named)), ...machineAddresses()];
}

async function resolveAll({ resolveHost, log }: Foundation, hosts: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    hosts.map(async host => {
      if (isIP(host) !== 0) return [host];
      try {
        return (await resolveHost(host)).map(({ address }) => address);
      } catch (error) {
        log.child('webrtc').warn('address-not-resolved', { host, error: messageOf(error) });
        return [];
      }
    }),
  );
  return found.flat();
}
