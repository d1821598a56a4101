import { describe, expect, test } from 'vitest';
import { describeAudioTag, describeVideoTag, type FlvTag } from '../../../../src/media/flv/flv-tag.ts';
import { isMultitrack, splitTracks } from '../../../../src/media/flv/multitrack.ts';
import { sampleTags } from '../../../support/media-samples.ts';
import { multitrackTag, type TrackTag } from '../../../support/multitrack.ts';
import { Random } from '../../../support/random.ts';

const keyframe = sampleTags.video('avc1', {
  dtsMs: 40,
  ptsMs: 120,
  isKeyframe: true,
  data: Buffer.from([0, 0, 0, 1, 0x65]),
});
const avcConfig = sampleTags.videoConfig('avc1', Buffer.from([1, 2, 3, 4]), 0);
const aac = sampleTags.audio('mp4a', { dtsMs: 21, data: Buffer.from([0xde, 0x02]) });
const aacConfig = sampleTags.audioConfig('mp4a', Buffer.from([0x11, 0x90]), 0);
const types = ['oneTrack', 'manyTracks', 'manyTracksManyCodecs'] as const;

describe.each(types)('a message of type %s', type => {
  test.each([
    ['keyframe of H.264', keyframe],
    ['configuration of H.264', avcConfig],
    ['frame of AAC', aac],
    ['configuration of AAC', aacConfig],
  ])('holds a %s as a single-track tag has it', (_, tag) => {
    const tracks: TrackTag[] =
      type === 'oneTrack' ? [{ trackId: 3, tag }] : [0, 3, 255].map(trackId => ({ trackId, tag }));
    const multitrack = multitrackTag(tracks, type);
    expect(isMultitrack(multitrack)).toBe(true);
    expect(splitTracks(multitrack)).toEqual(tracks.map(({ trackId }) => ({ ...tag, trackId })));
  });
});

describe('other messages', () => {
  const tagOf = (kind: FlvTag['kind'], ...bytes: number[]): FlvTag => ({
    kind,
    timestampMs: 0,
    body: Buffer.from(bytes),
  });
  const opus = [...Buffer.from('Opus')];

  test.each([
    keyframe,
    aac,
    sampleTags.video('hvc1', { dtsMs: 0, data: Buffer.alloc(4) }),
    tagOf('script', 2, 0, 1),
  ])('of one track are passed on (%#)', tag => {
    expect(isMultitrack(tag)).toBe(false);
  });

  test('of other codecs keep their enhanced form', () => {
    const [tag] = splitTracks(tagOf('audio', 0x95, 0x01, ...opus, 7, 1, 2, 3));
    expect(tag).toMatchObject({ kind: 'audio', trackId: 7, body: Buffer.from([0x91, ...opus, 1, 2, 3]) });
    expect(describeAudioTag(tag!.body)).toMatchObject({ codec: { name: 'Opus' }, role: 'frame' });
    const hevc = [...Buffer.from('hvc1')];
    const [video] = splitTracks(tagOf('video', 0x96, 0x03, ...hevc, 1, 9, 9));
    expect(describeVideoTag(video!.body)).toMatchObject({ codec: { name: 'HEVC' }, role: 'keyframe' });
  });

  test('with AAC or MP3 by FourCC get their first form', () => {
    const aacByFourCc = tagOf('audio', 0x91, ...Buffer.from('mp4a'), 1, 2);
    expect(isMultitrack(aacByFourCc)).toBe(true);
    expect(splitTracks(aacByFourCc)).toMatchObject([{ trackId: 0, body: Buffer.of(0xaf, 1, 1, 2) }]);
    const mp3 = tagOf('audio', 0x91, ...Buffer.from('.mp3'), 1, 2);
    expect(splitTracks(mp3)).toMatchObject([{ trackId: 0, body: Buffer.of(0x2f, 1, 2) }]);
  });

  test('with modifiers lose them', () => {
    const nanoseconds = [2, 0, 0, 9];
    expect(splitTracks(tagOf('audio', 0x97, ...nanoseconds, 0x01, ...opus, 5))).toMatchObject([
      { trackId: 0, body: Buffer.from([0x91, ...opus, 5]) },
    ]);
    const large = [255, 1, 0, ...Buffer.alloc(257)];
    expect(splitTracks(tagOf('audio', 0x97, ...large, 0x05, 0x01, ...opus, 2, 5))).toMatchObject([
      { trackId: 2, body: Buffer.from([0x91, ...opus, 5]) },
    ]);
  });

  test.each([
    ['a command', tagOf('video', 0xd6, 0, 1)],
    ['a multitrack message in another', tagOf('audio', 0x95, 0x05, ...opus, 0, 1)],
    ['an unknown type', tagOf('audio', 0x95, 0x31, ...opus, 0, 1)],
    ['a track without payload', tagOf('audio', 0x95, 0x01, ...opus, 1)],
    ['a track that is longer than the message', tagOf('audio', 0x95, 0x11, ...opus, 1, 0, 0, 9, 1)],
    ['modifiers without an end', tagOf('audio', ...Buffer.alloc(40, 0x97))],
    ['one byte', tagOf('audio', 0x95)],
  ])('with %s have no tracks', (_, tag) => {
    expect(splitTracks(tag)).toEqual([]);
  });

  test('with thousands of tracks give a few', () => {
    const body = Buffer.concat([
      Buffer.from([0x95, 0x11, ...opus]),
      ...Array.from({ length: 50_000 }, () => Buffer.from([1, 0, 0, 1, 0])),
    ]);
    expect(splitTracks({ kind: 'audio', timestampMs: 0, body }).length).toBeLessThanOrEqual(32);
  });
});

test('mutated messages give tags that have a header and a payload', () => {
  const random = new Random(16);
  const valid = types.flatMap(type => [keyframe, aac].map(tag => multitrackTag([{ trackId: 1, tag }], type)));
  for (let count = 0; count < 20_000; count += 1) {
    const { kind, body } = random.pick(valid);
    const mutant = Buffer.from(body);
    for (let left = random.below(4); left >= 0; left -= 1)
      mutant[random.below(mutant.length)] = random.below(256);
    const tag: FlvTag = { kind, timestampMs: 0, body: mutant.subarray(0, 1 + random.below(mutant.length)) };
    if (!isMultitrack(tag)) continue;
    for (const one of splitTracks(tag)) expect(one.body.length).toBeGreaterThan(2);
  }
});
