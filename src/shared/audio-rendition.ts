const namePattern = /^(audio|surround)([2-9]|1[0-6])?$/;

/** Tracks of a source that are kept. The first is the default one. */
export const maxAudioTracks = 16;

/** An audio rendition of a video: `audio`, `audio2`, ... in stereo, `surround`, `surround2`, ... in 5.1. */
interface AudioRenditionName {
  /** Number of the track, from 1. */
  readonly track: number;
  readonly isSurround: boolean;
}

export function audioRenditionName({ track, isSurround }: AudioRenditionName): string {
  return `${isSurround ? 'surround' : 'audio'}${track === 1 ? '' : track}`;
}

/** Undefined for the names of other renditions. */
export function parseAudioRenditionName(name: string): AudioRenditionName | undefined {
  const [, kind, number = '1'] = namePattern.exec(name) ?? [];
  return kind === undefined ? undefined : { track: Number(number), isSurround: kind === 'surround' };
}

/** True for a further audio rendition that failed: the video works without it. */
export function isLeftOut(rendition: {
  readonly type: string;
  readonly quality: string;
  readonly status: string;
}): boolean {
  return rendition.type === 'audio' && rendition.quality !== 'audio' && rendition.status === 'failed';
}
