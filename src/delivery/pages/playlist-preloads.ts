import { parseMultivariantPlaylist } from '../../media/hls/multivariant-playlist.ts';

/** Only resolves relative URLs. */
const origin = 'http://server';

/**
 * Lists the playlists that the page of a running broadcast asks for first, so that they load beside its script. With
 * several variants, the player chooses.
 *
 * @param hls path of the multivariant playlist `text`
 */
export function playlistsToPreload(hls: string, text: string): string[] {
  const { variants } = parseMultivariantPlaylist(text);
  const [first] = variants;
  if (first === undefined || variants.length > 1) return [hls];
  const media = new URL(first.uri, origin + hls);
  // The player page asks so for a first playlist; others would be held until there are three parts.
  media.searchParams.set('_HLS_msn', '0');
  return [hls, media.origin === origin ? media.pathname + media.search : media.href];
}
