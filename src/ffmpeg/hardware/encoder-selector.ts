import { accessSync } from 'node:fs';
import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { ProcessOwner } from '../process/owned-process.ts';
import { liveEncodeLimits } from '../process/process-limits.ts';
import {
  deviceOptions,
  type EncoderDevice,
  encoderInput,
  type HardwareEncoder,
  hardwareEncoders,
  hardwareOptions,
} from './encoder-device.ts';

type HardwareSetting = 'auto' | 'off' | HardwareEncoder;

interface EncoderState {
  readonly kind: 'software' | HardwareEncoder;
  /** The reason for software, or the last failure of the hardware. */
  readonly reason?: string;
}

interface EncoderSelectorOptions {
  readonly setting: HardwareSetting;
  readonly devicePath: string;
  readonly ffmpegPath: string;
  readonly owner: ProcessOwner;
  readonly memoryBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const testTimeoutMs = 15_000;
const maxTestBytes = 1024 * 1024;
/**
 * Time after a failure in which new jobs use software: sessions may be exhausted, or the driver may be restarting.
 */
const retryAfterMs = 60_000;
const nvidiaDevices = ['/dev/nvidiactl', '/dev/dxg'];

/** Finds the hardware encoder by encoding real frames, and chooses the encoder of each job. */
export class EncoderSelector {
  readonly #options: EncoderSelectorOptions;
  readonly #log: Logger;
  readonly #tested: Promise<void>;
  #device: EncoderDevice | undefined;
  #reason: string | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** Tested at the first use. */
  readonly #codecTests = new Map<AdditionalCodec, Promise<EncoderDevice | undefined>>();
  readonly #codecFailedAtMs = new Map<AdditionalCodec, number>();

  constructor(options: EncoderSelectorOptions) {
    this.#options = options;
    this.#log = options.log.child('encoders');
    this.#reason = options.setting === 'off' ? 'Turned off' : 'Looking for hardware encoders';
    this.#tested = this.#find();
  }

  get state(): EncoderState {
    const kind = this.current()?.encoder ?? 'software';
    return { kind, reason: this.#reason };
  }

  /** Undefined: software. */
  current(): EncoderDevice | undefined {
    return this.#isResting(this.#failedAtMs) ? undefined : this.#device;
  }

  /** Waits for the test. @param codec undefined: H.264, which is tested at the start */
  async whenTested(codec?: AdditionalCodec): Promise<EncoderDevice | undefined> {
    await this.#tested;
    const device = this.current();
    if (codec === undefined || device === undefined) return device;
    if (this.#isResting(this.#codecFailedAtMs.get(codec))) return undefined;
    const test = this.#codecTests.get(codec) ?? this.#testCodec({ ...device, codec });
    this.#codecTests.set(codec, test);
    return test;
  }

  /** A device that fails with one codec goes on with the others. */
  noteFailure(
    { encoder, codec }: EncoderDevice,
    failure: string,
    ids: Readonly<Record<string, unknown>>,
  ): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (codec !== undefined) this.#codecFailedAtMs.set(codec, nowMs);
    else {
      this.#failedAtMs = nowMs;
      this.#reason = `${encoder} failed, and the job continued in software: ${failure}`.slice(0, 500);
    }
    this.#log.warn('hardware-encoder-failed', { ...ids, encoder, codec: codec ?? 'h264', failure });
  }

  #isResting(failedAtMs = Number.NEGATIVE_INFINITY): boolean {
    return this.#options.clock.monotonicMs() - failedAtMs < retryAfterMs;
  }

  async #testCodec(device: EncoderDevice): Promise<EncoderDevice | undefined> {
    const failure = await this.#test(device);
    this.#log.info(failure === undefined ? 'hardware-encoder-found' : 'hardware-codec-unusable', {
      ...device,
      ...(failure === undefined ? {} : { failure }),
    });
    return failure === undefined ? device : undefined;
  }

  async #find(): Promise<void> {
    const failures: string[] = [];
    for (const encoder of this.#candidates()) {
      const device = { encoder, path: this.#options.devicePath };
      const failure = await this.#test(device);
      if (failure === undefined) {
        this.#device = device;
        this.#reason = undefined;
        this.#log.info('hardware-encoder-found', { ...device });
        return;
      }
      failures.push(`${encoder}: ${failure}`);
    }
    if (this.#options.setting === 'off') return;
    this.#reason = failures.length === 0 ? 'No hardware encoder found' : failures.join('; ').slice(0, 500);
    if (failures.length > 0) this.#log.warn('hardware-encoder-unusable', { failures });
  }

  #candidates(): readonly HardwareEncoder[] {
    const { setting, devicePath } = this.#options;
    if (setting === 'off') return [];
    if (setting !== 'auto') return [setting];
    const isPresent = {
      nvenc: nvidiaDevices.some(exists),
      qsv: exists(devicePath),
      vaapi: exists(devicePath),
      videotoolbox: process.platform === 'darwin',
    };
    return hardwareEncoders.filter(encoder => isPresent[encoder]);
  }

  /** Undefined if it works, else the reason. */
  async #test(device: EncoderDevice): Promise<string | undefined> {
    const { ffmpegPath, owner, memoryBytes } = this.#options;
    let output = Buffer.alloc(0);
    try {
      const child = owner.start(ffmpegPath, testArguments(device), {
        outputs: 1,
        limits: liveEncodeLimits(memoryBytes),
        access: { hasDevices: true },
        ids: { purpose: 'encoder-test', encoder: device.encoder },
      });
      child.output(3).on('data', (chunk: Buffer) => {
        if (output.length < maxTestBytes) output = Buffer.concat([output, chunk]);
      });
      const timer = setTimeout(() => void child.kill(), testTimeoutMs);
      const { kind, code, signal, lastLines } = await child.exited;
      clearTimeout(timer);
      if (kind === 'stopped') return `it did not encode a frame in ${testTimeoutMs / 1000} s`;
      if (kind !== 'ended') return lastLines.at(-1) ?? `ffmpeg ended with ${signal ?? code}`;
    } catch (error) {
      return String(error);
    }
    // Requires parameter sets, which some drivers do not return, and without which players cannot start.
    const configuration = { h264: 'avcC', hevc: 'hvcC', av1: 'av1C' }[device.codec ?? 'h264'];
    const hasParameterSets = output.includes(configuration) && output.includes('mdat');
    return hasParameterSets ? undefined : 'it wrote no playable video';
  }
}

function testArguments(device: EncoderDevice): string[] {
  const speed = { isLive: true, bitsPerSecond: 2_000_000, bufferBits: 2_000_000 };
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', ...deviceOptions(device)],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30', '-frames:v', '5', '-vf', encoderInput(device)],
    ...hardwareOptions(device, speed),
    ...['-f', 'mp4', '-movflags', '+delay_moov+default_base_moof+frag_every_frame', 'pipe:3'],
  ];
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
