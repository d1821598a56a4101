/** Hints of `onMetaData`, which may be wrong. */
export interface DeclaredMedia {
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
  /** Audio and video together. */
  readonly bitsPerSecond: number | undefined;
  readonly framesPerSecond: number | undefined;
}

/** Reads a script tag; undefined for other messages (FLV specification 10.1, E.4.4.4 and E.5). */
export function readDeclaredMedia(body: Buffer): DeclaredMedia | undefined {
  if (!body.includes('onMetaData')) return undefined;
  const videoKilobits = numberOf(body, 'videodatarate') ?? 0;
  const audioKilobits = numberOf(body, 'audiodatarate') ?? 0;
  const framesPerSecond = numberOf(body, 'framerate');
  const total = (videoKilobits + audioKilobits) * 1000;
  return {
    hasAudio: body.includes('audiocodecid'),
    hasVideo: body.includes('videocodecid'),
    bitsPerSecond: videoKilobits > 0 && total < 1e9 ? total : undefined,
    framesPerSecond:
      framesPerSecond !== undefined && framesPerSecond >= 1 && framesPerSecond <= 300
        ? framesPerSecond
        : undefined,
  };
}

/** Marker 0, then a double. */
function numberOf(body: Buffer, property: string): number | undefined {
  const at = body.indexOf(property);
  const marker = at + property.length;
  if (at < 0 || marker + 9 > body.length || body[marker] !== 0) return undefined;
  const value = body.readDoubleBE(marker + 1);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
