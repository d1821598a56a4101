import { PlaybackGate, type PlaybackGateOptions } from '../../src/delivery/playback-gate.ts';
import { SignedTokens } from '../../src/delivery/signed-tokens.ts';
import { systemClock } from '../../src/shared/clock.ts';

/** Admits to public media only, unless the options say more. */
export function playbackGateOf(options: Partial<PlaybackGateOptions> = {}): PlaybackGate {
  const clock = options.clock ?? systemClock;
  return new PlaybackGate({
    sessions: { admit: async () => undefined },
    signedTokens: new SignedTokens({ findSigningKey: async () => undefined, clock }),
    countryOf: async () => '',
    isOwner: () => false,
    ownHosts: undefined,
    askPlayHook: () => ({ isAsked: false, refusal: undefined }),
    clock,
    publicUrl: () => '',
    ...options,
  });
}
