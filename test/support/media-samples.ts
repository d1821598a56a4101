import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { tagBody } from '../../src/media/flv/tag-body.ts';
import { readTagEvents } from '../../src/media/flv/tag-events.ts';
import {
  type AudioFourCc,
  type CodecConfig,
  codecs,
  type MediaEvent,
  type MediaSample,
  ticksPerMs,
  timestampMs,
  type VideoFourCc,
} from '../../src/media/samples/media-sample.ts';

interface Frame {
  readonly dtsMs: number;
  readonly ptsMs?: number;
  readonly isKeyframe?: boolean;
  readonly data: Buffer;
}

/** Media of main tracks, as all protocols but RTMP produce it. */
export const samples = {
  video(fourCc: VideoFourCc, { dtsMs, ptsMs = dtsMs, isKeyframe = false, data }: Frame): MediaSample {
    const times = { dtsTicks: dtsMs * ticksPerMs, ptsTicks: ptsMs * ticksPerMs };
    return { type: 'sample', kind: 'video', trackId: 0, codec: codecs[fourCc], ...times, isKeyframe, data };
  },
  videoConfig(fourCc: VideoFourCc, data: Buffer): CodecConfig {
    return { type: 'config', kind: 'video', trackId: 0, codec: codecs[fourCc], data };
  },
  audio(fourCc: AudioFourCc, { dtsMs, data }: Frame): MediaSample {
    const times = { dtsTicks: dtsMs * ticksPerMs, ptsTicks: dtsMs * ticksPerMs };
    return {
      type: 'sample',
      kind: 'audio',
      trackId: 0,
      codec: codecs[fourCc],
      ...times,
      isKeyframe: false,
      data,
    };
  },
  audioConfig(fourCc: AudioFourCc, data: Buffer): CodecConfig {
    return { type: 'config', kind: 'audio', trackId: 0, codec: codecs[fourCc], data };
  },
};

/** Tags as an encoder sends them over RTMP. */
export const sampleTags = {
  video: (fourCc: VideoFourCc, frame: Frame) => tagOf(samples.video(fourCc, frame)),
  videoConfig: (fourCc: VideoFourCc, data: Buffer, atMs: number): FlvTag => ({
    ...tagOf(samples.videoConfig(fourCc, data)),
    timestampMs: atMs,
  }),
  audio: (fourCc: AudioFourCc, frame: Frame) => tagOf(samples.audio(fourCc, frame)),
  audioConfig: (fourCc: AudioFourCc, data: Buffer, atMs: number): FlvTag => ({
    ...tagOf(samples.audioConfig(fourCc, data)),
    timestampMs: atMs,
  }),
};

/** Configurations have no time: theirs is 0. What is declared has no body. */
export function tagOf(event: MediaEvent): FlvTag {
  if (event.type === 'declared' || event.type === 'color')
    return { kind: 'script', timestampMs: 0, body: Buffer.alloc(0) };
  const atMs = event.type === 'config' ? 0 : timestampMs(event);
  return { kind: event.kind, timestampMs: atMs, body: tagBody(event) };
}

export function eventsOf(...tags: readonly FlvTag[]): MediaEvent[] {
  const events: MediaEvent[] = [];
  for (const tag of tags) readTagEvents(tag, event => events.push(event));
  return events;
}

/** The media of a tag body, which must be readable. */
export function mediaOf(tag: FlvTag): MediaSample | CodecConfig {
  const [event] = eventsOf(tag);
  if (event?.type !== 'sample' && event?.type !== 'config') throw new Error('The tag holds no media.');
  return event;
}
