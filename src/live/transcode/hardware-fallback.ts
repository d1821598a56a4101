import type { EncoderDevice } from '../../ffmpeg/hardware/encoder-device.ts';
import type { LadderConfig } from './ladder-config.ts';
import type { EncoderConfig, EncoderEvents, LiveEncoder } from './live-encoder.ts';

interface DeviceSource {
  current(): EncoderDevice | undefined;
  noteFailure(device: EncoderDevice, failure: string, ids: Readonly<Record<string, unknown>>): void;
}

type StartOnDevice = (
  device: EncoderDevice | undefined,
  config: EncoderConfig,
  events: EncoderEvents,
) => LiveEncoder;

/** Shorter than the time after which an encoder without output is killed. */
const minHangMs = 5000;

/** Starts encoders of one broadcast on the hardware, and in software after the hardware has failed it. */
export function hardwareFallback(
  devices: DeviceSource,
  ids: Readonly<Record<string, unknown>>,
  start: StartOnDevice,
): LadderConfig['startEncoder'] {
  let hasFailed = false;
  return (config, events) => {
    const device = hasFailed ? undefined : devices.current();
    if (device === undefined) return start(undefined, config, events);
    const startedAtMs = performance.now();
    let hasOutput = false;
    const noteFailure = (failure: string) => {
      if (hasFailed) return;
      hasFailed = true;
      devices.noteFailure(device, failure, ids);
    };
    const encoder = start(device, config, {
      ...events,
      sample: (...sample) => {
        hasOutput = true;
        events.sample(...sample);
      },
      exited: failure => {
        if (failure !== undefined) noteFailure(failure);
        events.exited(failure);
      },
    });
    return {
      write: tag => encoder.write(tag),
      finish: () => encoder.finish(),
      kill: () => {
        // An encoder that hangs is killed; so is that of a broadcast that ends at once.
        if (!hasOutput && performance.now() - startedAtMs > minHangMs) noteFailure('it wrote no output');
        encoder.kill();
      },
    };
  };
}
