import { PlaybackGate, type PlaybackGateOptions } from '../../src/delivery/playback-gate.ts';
import { systemClock } from '../../src/shared/clock.ts';

/** Admits to public media only, unless the options say more. */
export function playbackGateOf(options: Partial<PlaybackGateOptions> = {}): PlaybackGate {
  return new PlaybackGate({
    sessions: { admit: async () => undefined },
    findSigningKey: async () => undefined,
    countryOf: async () => '',
    isOwner: () => false,
    askPlayHook: () => ({ isAsked: false, refusal: undefined }),
    clock: systemClock,
    publicUrl: () => '',
    ...options,
  });
}
