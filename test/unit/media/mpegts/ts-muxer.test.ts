import { describe, expect, it } from 'vitest';
import { TsDemuxer, type TsProgram, type TsSample } from '../../../../src/media/mpegts/ts-demuxer.ts';
import { TsMuxer } from '../../../../src/media/mpegts/ts-muxer.ts';
import { Random } from '../../../support/random.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
/** 1280x720 of x264. */
const sps = hex('6764001facd9405005bb011000000300100000030300f1831960');
const pps = hex('68ebecb22c');
const config = Buffer.concat([
  ...[hex('0164001fffe1'), Buffer.from([0, sps.length]), sps],
  ...[Buffer.from([1, 0, pps.length]), pps],
]);
const audioConfig = hex('1190');

function demux(bytes: Buffer) {
  const programs: TsProgram[] = [];
  const samples: TsSample[] = [];
  const demuxer = new TsDemuxer({
    program: program => programs.push(program),
    sample: sample => samples.push(sample),
  });
  demuxer.push(bytes);
  demuxer.flush();
  return { programs, samples, stats: demuxer.stats };
}

function withLength(unit: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(unit.length);
  return Buffer.concat([length, unit]);
}

describe('TsMuxer', () => {
  it('writes what the demuxer reads, whatever the sizes', () => {
    const random = new Random(13);
    const muxer = new TsMuxer({ video: { codec: 'avc1', config }, audio: { config: audioConfig } });
    const video = Array.from({ length: 80 }, (_, index) => {
      const isKeyframe = index % 20 === 0;
      const unit = Buffer.concat([
        Buffer.from([isKeyframe ? 0x65 : 0x41, 0x88]),
        Buffer.alloc(index < 60 ? 130 + index : random.below(60_000), 0x55),
      ]);
      return { dtsMs: 1_000 + index * 40, ptsMs: 1_080 + index * 40, isKeyframe, data: withLength(unit) };
    });
    const frames = Array.from({ length: 150 }, (_, index) => Buffer.alloc(1 + random.below(700), index));
    const bytes = Buffer.concat([
      ...video.map(frame => muxer.video(frame)),
      ...frames.map((frame, index) => muxer.audio(1_000 + index * 21, frame)),
    ]);
    expect(bytes.length % 188).toBe(0);
    const { programs, samples, stats } = demux(bytes);
    expect(programs[0]?.streams).toMatchObject([{ codec: 'avc1' }, { codec: 'mp4a' }]);
    expect(stats).toMatchObject({ packetsLost: 0, pesDropped: 0 });
    const videoSamples = samples.filter(({ stream }) => stream.kind === 'video');
    expect(videoSamples.map(({ isKeyframe }) => isKeyframe)).toEqual(
      video.map(({ isKeyframe }) => isKeyframe),
    );
    const start = videoSamples[0]!.dtsTicks;
    expect(videoSamples.map(({ dtsTicks }) => dtsTicks - start)).toEqual(
      video.map((_, index) => index * 3_600),
    );
    expect(videoSamples.every(({ ptsTicks, dtsTicks }) => ptsTicks - dtsTicks === 7_200)).toBe(true);
    expect(videoSamples.every(({ data }, index) => data.equals(video[index]!.data))).toBe(true);
    expect(videoSamples[0]!.config).toEqual(Buffer.concat([config, hex('fdf8f800')]));
    const audioSamples = samples.filter(({ stream }) => stream.kind === 'audio');
    expect(audioSamples.map(({ data }) => data)).toEqual(frames);
    expect(audioSamples[0]!.config).toEqual(audioConfig);
  });

  it('writes audio alone, with the clock', () => {
    const muxer = new TsMuxer({ audio: { config: audioConfig } });
    const frames = Array.from({ length: 50 }, (_, index) => Buffer.alloc(200, index));
    const { programs, samples } = demux(
      Buffer.concat(frames.map((frame, index) => muxer.audio(index * 21, frame))),
    );
    expect(programs).toHaveLength(1);
    expect(samples.map(({ data }) => data)).toEqual(frames);
  });

  it('refuses audio that ADTS cannot describe', () => {
    expect(() => new TsMuxer({ audio: { config: hex('f8e85000') } })).toThrow('ADTS');
  });
});
