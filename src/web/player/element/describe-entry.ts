import { asRecord, asText } from '../theme/player-theme.ts';
import { askForState } from './open-source.ts';
import { parsePlayerAddress } from './player-address.ts';
import type { PlayerEntry } from './player-media.ts';

/** Asks a server about media that does not play yet. Undefined when it does not tell. Never rejects. */
export async function describeEntry(url: string): Promise<PlayerEntry | undefined> {
  const address = parsePlayerAddress(url, document.baseURI);
  const found = address && (await askForState(address, new AbortController().signal));
  if (found === undefined || 'refused' in found) return undefined;
  const state = asRecord(found.state) ?? {};
  const poster = asText(state.poster);
  const { duration } = state;
  return {
    title: asText(state.title) ?? '',
    poster: state.hasThumbnail === true && poster ? address!.server + poster : undefined,
    durationSeconds: typeof duration === 'number' && duration > 0 ? duration : undefined,
    isLive: address!.kind === 'live' && state.live === true,
  };
}
