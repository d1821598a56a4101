import {
  TsDemuxer,
  type TsDemuxerStats,
  type TsProgram,
  type TsSample,
  type TsStream,
} from '../media/mpegts/ts-demuxer.ts';
import type { DeclaredMedia } from '../media/samples/declared-media.ts';
import { codecs, type MediaEvent, ticksPerMs } from '../media/samples/media-sample.ts';
import { SampleInterleaver } from './sample-interleaver.ts';

interface TsPublisherEvents {
  media(event: MediaEvent): void;
  /** Called once. Nothing follows. */
  refused(description: string): void;
}

interface QueuedEvents {
  readonly dtsMs: number;
  readonly bytes: number;
  readonly events: readonly MediaEvent[];
}

/** A program map is repeated every 0.1 s. */
const maxBytesBeforeProgram = 8 * 1024 * 1024;
const maxScrambledPackets = 10_000;
/** RTMP restreams have 24 bits for milliseconds, of which one is the sign. */
const maxCompositionTicks = (2 ** 23 - 1) * ticksPerMs;

/** Publishes a transport stream as samples in the order of their decode times. */
export class TsPublisher {
  readonly #events: TsPublisherEvents;
  readonly #demuxer: TsDemuxer;
  #declared: DeclaredMedia | undefined;
  readonly #interleaver = new SampleInterleaver<QueuedEvents>(({ events }) => {
    for (const event of events) if (!this.#isOver) this.#events.media(event);
  });
  #bytesBeforeProgram: number | undefined = 0;
  #isOver = false;

  constructor(events: TsPublisherEvents) {
    this.#events = events;
    this.#demuxer = new TsDemuxer({
      program: program => this.#begin(program),
      began: ({ kind }) => {
        if (kind === 'video') this.#declare({ isVideoArriving: true });
      },
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
      this.#refuse('No MPEG-TS program was received. Choose MPEG-TS as the format in the encoder.');
    }
  }

  /** Passes on pictures of which the next one takes long. Call it every few milliseconds. */
  tick(): void {
    if (!this.#isOver) this.#demuxer.tick(performance.now());
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

  /** The broadcast waits for audio that is declared, and hardly for other audio. */
  #declareTracks(streams: readonly TsStream[]): void {
    const audio = streams.filter(({ kind }) => kind === 'audio');
    const labels = new Map(audio.map(({ trackId, language }) => [trackId, { language }]));
    this.#declare({
      hasAudio: audio.length > 0,
      hasVideo: streams.some(({ kind }) => kind === 'video'),
      audioTracks: audio.length < 2 ? undefined : labels,
    });
  }

  #declare(change: Partial<DeclaredMedia>): void {
    const media = { hasAudio: false, hasVideo: false, ...this.#declared, ...change };
    this.#declared = media;
    this.#events.media({ type: 'declared', media });
  }

  #queue({ stream, dtsTicks, ptsTicks, data, isKeyframe, config }: TsSample): void {
    const { kind, trackId } = stream;
    const track = { kind, trackId, codec: codecs[stream.codec] };
    const events: MediaEvent[] = config === undefined ? [] : [{ type: 'config', ...track, data: config }];
    events.push({
      type: 'sample',
      ...track,
      dtsTicks,
      ptsTicks: Math.min(ptsTicks, dtsTicks + maxCompositionTicks),
      isKeyframe: isKeyframe && kind === 'video',
      data,
    });
    this.#interleaver.push(stream.pid, { dtsMs: dtsTicks / ticksPerMs, bytes: data.length, events });
  }

  #refuse(description: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.refused(description);
  }
}
