import { PlaybackGate } from '../delivery/playback-gate.ts';
import type { PrivateSessions } from '../delivery/private-sessions.ts';
import { SigningKeysStore } from '../resources/signing-keys/signing-keys.store.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';

export function createPlaybackGate(
  { database, peers, urls, clock }: Foundation,
  { analytics }: Pick<Api, 'analytics'>,
  sessions: PrivateSessions,
): PlaybackGate {
  const signingKeys = new SigningKeysStore(database);
  return new PlaybackGate({
    ...{ sessions, clock },
    publicUrl: urls.publicUrl,
    findSigningKey: signingKeyId => signingKeys.findForVerification(signingKeyId),
    countryOf: async request => {
      await analytics.geo.load();
      return analytics.geo.isAvailable ? analytics.geo.locate(peers.addressOf(request)).country : undefined;
    },
  });
}
