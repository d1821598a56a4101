import type { PrivateAccess } from '../private-sessions.ts';

/**
 * Media playlists have relative URIs, so they are rendered once for all sessions.
 * @param mediaUrl base address of the server that has the media; undefined for relative addresses
 */
export function addressPlaylist(
  playlist: string,
  liveStreamId: string,
  access: PrivateAccess | undefined,
  mediaUrl: string | undefined,
): string {
  if (mediaUrl === undefined && access === undefined) return playlist;
  const folder = access === undefined ? '' : `/private/${access.token}`;
  const root = mediaUrl === undefined ? '' : `${mediaUrl}${folder}/`;
  const session = access?.avh === undefined ? '' : `avh-${access.avh}/`;
  return playlist.replaceAll(`${liveStreamId}/`, `${root}${liveStreamId}/${session}`);
}
