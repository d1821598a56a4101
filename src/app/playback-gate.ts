import { PlaybackGate } from '../delivery/playback-gate.ts';
import type { PrivateSessions } from '../delivery/private-sessions.ts';
import type { PlayHook } from '../resources/hooks/play-hook.ts';
import { SigningKeysStore } from '../resources/signing-keys/signing-keys.store.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';

export function createPlaybackGate(
  { database, peers, urls, clock }: Foundation,
  { analytics }: Pick<Api, 'analytics'>,
  { sessions, playHook }: { sessions: PrivateSessions; playHook: PlayHook },
): PlaybackGate {
  const signingKeys = new SigningKeysStore(database);
  return new PlaybackGate({
    ...{ sessions, clock },
    publicUrl: urls.publicUrl,
    askPlayHook: (viewer, request) => {
      const { 'user-agent': userAgent = '', referer = '' } = request.headers;
      const query = request.url?.split('?', 2)[1] ?? '';
      const remoteAddress = peers.addressOf(request);
      return playHook.decide({ ...viewer, remoteAddress, userAgent, referer, query });
    },
    findSigningKey: signingKeyId => signingKeys.findForVerification(signingKeyId),
    countryOf: async request => {
      await analytics.geo.load();
      return analytics.geo.isAvailable ? analytics.geo.locate(peers.addressOf(request)).country : undefined;
    },
  });
}
