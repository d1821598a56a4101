import type { FlvTag } from '../media/flv/flv-tag.ts';
import { sampleTags } from '../media/flv/sample-tags.ts';
import {
  TsDemuxer,
  type TsDemuxerStats,
  type TsProgram,
  type TsSample,
  type TsStream,
} from '../media/mpegts/ts-demuxer.ts';
import { encodeAmf0 } from '../media/rtmp/amf0.ts';
import { SampleInterleaver } from './sample-interleaver.ts';

interface TsPublisherEvents {
  tag(tag: FlvTag): void;
  /** Once. Nothing follows. */
  refused(description: string): void;
}

interface QueuedTags {
  readonly dtsMs: number;
  readonly bytes: number;
  readonly tags: readonly FlvTag[];
}

const ticksPerMs = 90;
/** A program map is repeated every 0.1 s. */
const maxBytesBeforeProgram = 8 * 1024 * 1024;
const maxScrambledPackets = 10_000;
/** An FLV tag has 24 bits for it, of which one is the sign. */
const maxOffsetMs = 2 ** 23 - 1;
/** Publishes a transport stream as tags in the order of their decode times. */
export class TsPublisher {
  readonly #events: TsPublisherEvents;
  readonly #demuxer: TsDemuxer;
  readonly #interleaver = new SampleInterleaver<QueuedTags>(({ tags }) => {
    for (const tag of tags) if (!this.#isOver) this.#events.tag(tag);
  });
  #bytesBeforeProgram: number | undefined = 0;
  #isOver = false;

  constructor(events: TsPublisherEvents) {
    this.#events = events;
    this.#demuxer = new TsDemuxer({
      program: program => this.#begin(program),
      sample: sample => this.#queue(sample),
    });
  }

  get stats(): TsDemuxerStats {
    return this.#demuxer.stats;
  }

  push(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#demuxer.push(bytes);
    const { packets, packetsScrambled } = this.stats;
    if (packetsScrambled > maxScrambledPackets && packetsScrambled > packets / 2) {
      this.#refuse('The transport stream is scrambled. Send it without conditional access.');
    }
    if (this.#bytesBeforeProgram === undefined) return;
    this.#bytesBeforeProgram += bytes.length;
    if (this.#bytesBeforeProgram > maxBytesBeforeProgram) {
      this.#refuse(
        'No program of an MPEG transport stream arrived. Choose MPEG-TS as the format in the encoder.',
      );
    }
  }

  /** The publisher has ended: passes on what is held back. */
  flush(): void {
    this.#demuxer.flush();
    this.#interleaver.flush();
  }

  #begin({ streams, unsupported }: TsProgram): void {
    this.#bytesBeforeProgram = undefined;
    for (const kind of ['video', 'audio'] as const) {
      const isMissing = !streams.some(stream => stream.kind === kind);
      const found = unsupported.find(stream => stream.kind === kind);
      if (isMissing && found !== undefined) {
        const advice = kind === 'video' ? 'H.264 or HEVC' : 'AAC with ADTS headers';
        this.#refuse(`${found.name} ${kind} is not supported. Choose ${advice} in the encoder.`);
        return;
      }
    }
    this.#interleaver.expect(streams.map(({ pid }) => pid));
    this.#declareTracks(streams);
  }

  /** In the form of Enhanced RTMP, version 2. The broadcast waits for audio that is declared, and hardly for other audio. */
  #declareTracks(streams: readonly TsStream[]): void {
    const audio = streams.filter(({ kind }) => kind === 'audio');
    const labels = audio.map(({ trackId, language }) => [
      trackId,
      language === undefined ? {} : { language },
    ]);
    const body = encodeAmf0('onMetaData', {
      ...Object.fromEntries(streams.map(({ kind, codec }) => [`${kind}codecid`, codec])),
      ...(audio.length < 2 ? {} : { audioTrackIdInfoMap: Object.fromEntries(labels) }),
    });
    this.#events.tag({ kind: 'script', timestampMs: 0, body });
  }

  #queue({ stream, dtsTicks, ptsTicks, data, isKeyframe, config }: TsSample): void {
    const { codec, trackId } = stream;
    const dtsMs = dtsTicks / ticksPerMs;
    const tags: FlvTag[] = [];
    if (codec === 'avc1' || codec === 'hvc1') {
      if (config !== undefined) tags.push(sampleTags.videoConfig(codec, config, dtsMs));
      const ptsMs = dtsMs + Math.min((ptsTicks - dtsTicks) / ticksPerMs, maxOffsetMs);
      tags.push(sampleTags.video(codec, { dtsMs, ptsMs, isKeyframe, data }));
    } else {
      if (config !== undefined) tags.push(sampleTags.audioConfig(codec, config, dtsMs));
      tags.push(sampleTags.audio(codec, { dtsMs, data }));
    }
    const ofTrack = trackId === 0 ? tags : tags.map(tag => ({ ...tag, trackId }));
    this.#interleaver.push(stream.pid, { dtsMs, bytes: data.length, tags: ofTrack });
  }

  #refuse(description: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.refused(description);
  }
}
