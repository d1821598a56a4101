/** A group holds each audio track once, all in the same codec: GROUP-ID of EXT-X-MEDIA. */
export const mainAudioGroup = 'audio';

interface AudioRenditionKey {
  readonly groupId: string;
  /** 0 is the main track. */
  readonly trackId: number;
}

const namePattern = /^(audio(?:-[a-z]+)?)(?:-([1-9]\d{0,2}))?$/;

/** Path component of its URLs: `audio`, `audio-1`, and in another group `audio-aac`, `audio-aac-1`. */
export function audioRenditionName(trackId: number, groupId = mainAudioGroup): string {
  return trackId === 0 ? groupId : `${groupId}-${trackId}`;
}

/**
 * Returns the track id in init sections and fragments. The main audio has the id 2, also inside the source, and
 * video the id 1.
 */
export function audioTrackIdOf(rendition: string): number {
  return 2 + (parseAudioRendition(rendition)?.trackId ?? 0);
}

/** Undefined for the name of a video rendition. */
export function parseAudioRendition(name: string): AudioRenditionKey | undefined {
  const [, groupId, trackId = '0'] = namePattern.exec(name) ?? [];
  return groupId === undefined ? undefined : { groupId, trackId: Number(trackId) };
}
