import { decodeAmf0 } from '../rtmp/amf0.ts';
import type { AudioLabel, DeclaredMedia } from '../samples/declared-media.ts';

/** A property of AMF0 with this name and a string. */
const encoderProperty = Buffer.from('\x00\x07encoder\x02', 'latin1');
const maxEncoderLength = 64;
const languageProperties = ['language', 'lang'];
const nameProperties = ['name', 'title', 'label'];

/** Reads a script tag; undefined for other messages (FLV specification 10.1, E.4.4.4 and E.5). */
export function readDeclaredMedia(body: Buffer): DeclaredMedia | undefined {
  if (!body.includes('onMetaData')) return undefined;
  const videoKilobits = numberOf(body, 'videodatarate') ?? 0;
  const audioKilobits = numberOf(body, 'audiodatarate') ?? 0;
  const framesPerSecond = numberOf(body, 'framerate');
  const audioTracks = readAudioTracks(body);
  const encoder = readEncoder(body);
  const total = (videoKilobits + audioKilobits) * 1000;
  return {
    hasAudio: body.includes('audiocodecid'),
    hasVideo: body.includes('videocodecid'),
    bitsPerSecond: videoKilobits > 0 && total < 1e9 ? total : undefined,
    framesPerSecond:
      framesPerSecond !== undefined && framesPerSecond >= 1 && framesPerSecond <= 300
        ? framesPerSecond
        : undefined,
    encoder,
    audioTracks,
  };
}

/** OBS names the part of it that sends. */
function readEncoder(body: Buffer): string | undefined {
  const at = body.indexOf(encoderProperty);
  const start = at + encoderProperty.length + 2;
  if (at < 0 || start > body.length) return undefined;
  const text = body
    .toString('utf8', start, start + body.readUInt16BE(start - 2))
    .replace(/[^\x20-\x7e]/g, '?');
  const obsVersion = /\blibobs version ([\w.-]+)/.exec(text)?.[1];
  const name = obsVersion === undefined ? text.trim() : `OBS ${obsVersion}`;
  return name === '' ? undefined : name.slice(0, maxEncoderLength);
}

/** `audioTrackIdInfoMap` of Enhanced RTMP, version 2, which names the properties only by example. */
function readAudioTracks(body: Buffer): Map<number, AudioLabel> | undefined {
  if (!body.includes('audioTrackIdInfoMap')) return undefined;
  const properties = decodeAmf0(body).find(value => value instanceof Map);
  const tracks: unknown = properties?.get('audioTrackIdInfoMap');
  if (!(tracks instanceof Map)) return undefined;
  const labels = new Map<number, AudioLabel>();
  for (const [id, track] of tracks) {
    if (!/^\d{1,3}$/.test(String(id)) || !(track instanceof Map)) continue;
    labels.set(Number(id), {
      language: firstText(track, languageProperties),
      name: firstText(track, nameProperties),
    });
  }
  return labels;
}

function firstText(track: ReadonlyMap<unknown, unknown>, names: readonly string[]): string | undefined {
  const texts = names.map(name => track.get(name));
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}

/** Marker 0, then a double. */
function numberOf(body: Buffer, property: string): number | undefined {
  const at = body.indexOf(property);
  const marker = at + property.length;
  if (at < 0 || marker + 9 > body.length || body[marker] !== 0) return undefined;
  const value = body.readDoubleBE(marker + 1);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
