import { AccessUnitGrouper } from '../codecs/access-unit-grouper.ts';
import { VideoSampleBuilder } from '../codecs/video-sample-builder.ts';
import type {
  ElementaryReader,
  ElementarySample,
  FollowingPacket,
  PesPacket,
  PesTimes,
} from './elementary-reader.ts';

const START_CODE_BYTES = 3;
const maxUnfinishedBytes = 8 * 1024 * 1024;
/** PES packets of one access unit, whose units are grouped again for each. */
const maxContinuations = 64;
const fallbackStepTicks = 3600;
const maxStepTicks = 90_000;

/**
 * Usually a PES packet is an access unit. It may also hold several, of which only the first has timestamps, or begin
 * inside of one.
 */
export class VideoReader implements ElementaryReader {
  readonly #builder: VideoSampleBuilder;
  readonly #grouper: AccessUnitGrouper;
  readonly #sample: (sample: ElementarySample) => void;
  /** The last access unit, while it may continue in the next packet. */
  #unfinished: { readonly times: PesTimes | undefined; readonly continuations: number } | undefined;
  #hasContinuations = false;
  #last: PesTimes | undefined;
  #stepTicks = fallbackStepTicks;

  constructor(codec: 'avc1' | 'hvc1', sample: (sample: ElementarySample) => void) {
    this.#builder = new VideoSampleBuilder(codec);
    this.#grouper = new AccessUnitGrouper(codec);
    this.#sample = sample;
  }

  reset(): void {
    this.#unfinished = undefined;
  }

  isFrame(units: readonly Buffer[]): boolean {
    return !this.#hasContinuations && this.#grouper.group(units).length === 1;
  }

  push(packet: PesPacket, following: FollowingPacket | undefined): number {
    const unfinished = this.#unfinished;
    this.#unfinished = undefined;
    this.#hasContinuations ||= following?.isContinuation === true;
    const { data } = packet;
    const groups = this.#grouper.group(packet.units);
    const last = groups.at(-1);
    const beginsAt = unfinished === undefined ? 0 : 1;
    const nextTicks = following?.times?.dtsTicks;
    let retained = 0;
    groups.forEach((units, index) => {
      const known = index < beginsAt ? unfinished?.times : index === beginsAt ? packet.times : undefined;
      if (known !== undefined && nextTicks !== undefined) {
        this.#measure((nextTicks - known.dtsTicks) / (groups.length - index));
      }
      const times = known ?? this.#afterLast();
      if (units === last && following?.isContinuation === true) {
        const at = units[0]!.byteOffset - data.byteOffset - START_CODE_BYTES;
        const continuations = groups.length === 1 ? (unfinished?.continuations ?? 0) + 1 : 1;
        if (data.length - at > maxUnfinishedBytes || continuations > maxContinuations) return;
        this.#unfinished = { times, continuations };
        retained = data.length - at;
        return;
      }
      this.#emit(units, times);
    });
    return retained;
  }

  #emit(units: readonly Buffer[], times: PesTimes | undefined): void {
    if (times === undefined) return;
    this.#last = times;
    const built = this.#builder.build(units);
    if (built === undefined) return;
    const { record, data, isKeyframe } = built;
    this.#sample({ ...times, data, isKeyframe, config: record });
  }

  #measure(stepTicks: number): void {
    if (stepTicks > 0 && stepTicks <= maxStepTicks) this.#stepTicks = stepTicks;
  }

  #afterLast(): PesTimes | undefined {
    if (this.#last === undefined) return undefined;
    const dtsTicks = this.#last.dtsTicks + this.#stepTicks;
    return { dtsTicks, ptsTicks: dtsTicks };
  }
}
