import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeCommand, readConnect, textOf } from '../../../../src/ingest/rtmp/commands.ts';
import { resolveStreamPath } from '../../../../src/ingest/rtmp/stream-path.ts';
import { readDeclaredMedia } from '../../../../src/media/flv/declared-media.ts';
import { describeAudioTag, describeVideoTag } from '../../../../src/media/flv/flv-tag.ts';
import { isMultitrack, splitTracks } from '../../../../src/media/flv/multitrack.ts';
import { ChunkReader, MESSAGE, type RtmpMessage } from '../../../../src/media/rtmp/chunk-reader.ts';

const handshakeBytes = 1 + 2 * 1536;

/** The first messages that OBS sends, of which the last one is truncated. */
function messagesOf(name: string): RtmpMessage[] {
  const file = new URL(`../../../fixtures/obs/${name}-first-messages.hex`, import.meta.url);
  const bytes = Buffer.from(readFileSync(file, 'latin1').replace(/\s/g, ''), 'hex');
  const messages: RtmpMessage[] = [];
  const limits = {
    maxMessageBytes: () => 2 ** 24,
    maxUnfinishedBytes: () => 2 ** 24,
    onMessageStart: () => {},
  };
  new ChunkReader(limits, message => messages.push(message)).push(bytes.subarray(handshakeBytes));
  return messages;
}

test.each([
  ['obs-29.0.2-rtmp', /^OBS 29\.0\.2/, 'H.264', [0]],
  ['obs-29.0.2-twitch-vod-track', /^OBS 29\.0\.2/, 'H.264', [0]],
  ['obs-30.2.3-rtmp', /^OBS 30\.2\.3/, 'H.264', [0]],
  ['obs-30.2.3-av1', /^OBS 30\.2\.3/, 'AV1', [0]],
])('%s: key, name and tracks are read', (name, encoder, videoCodec, audioTracks) => {
  const messages = messagesOf(name);
  const commands = messages
    .filter(({ type }) => type === MESSAGE.commandAmf0)
    .map(each => decodeCommand(each.payload));
  const find = (command: string) => commands.find(each => each.name === command)!;
  const path = resolveStreamPath(readConnect(find('connect')).app, textOf(find('publish').args[1]));
  expect(path).toMatchObject({ ok: true, streamKey: expect.stringMatching(/^[\da-f-]{36}$/), query: '' });
  const metadata = messages.find(({ type }) => type === MESSAGE.dataAmf0)!;
  expect(readDeclaredMedia(metadata.payload)).toMatchObject({
    hasAudio: true,
    hasVideo: true,
    framesPerSecond: 30,
    encoder: expect.stringMatching(encoder),
  });
  const video = messages
    .filter(({ type }) => type === MESSAGE.video)
    .map(each => describeVideoTag(each.payload));
  expect(video.slice(0, 3)).toMatchObject(
    ['config', 'keyframe', 'frame'].map(role => ({ codec: { name: videoCodec }, role })),
  );
  const audio = messages.flatMap(({ type, payload, timestampMs }) => {
    if (type !== MESSAGE.audio) return [];
    const tag = { kind: 'audio' as const, timestampMs, body: payload };
    return isMultitrack(tag) ? splitTracks(tag) : [tag];
  });
  expect([...new Set(audio.map(({ trackId = 0 }) => trackId))].toSorted()).toEqual(audioTracks);
  expect(audio.map(({ body }) => describeAudioTag(body)?.codec.name)).toEqual(audio.map(() => 'AAC'));
});
