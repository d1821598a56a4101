import Hls, { type Events, type HlsConfig } from 'hls.js';
import { expect, test } from 'vitest';
import { keepCaptionsBetweenParts } from '../../../../../src/web/player/live/part-captions.ts';
import { captionPairs } from '../../../../support/closed-captions.ts';

interface PushedPart {
  readonly sn: number;
  readonly part: number;
  readonly pairs: readonly (readonly [number, number])[];
}

/** Texts of the cues that hls.js makes of parts. */
function cuesOf(config: Partial<HlsConfig>, parts: readonly PushedPart[]): string[] {
  const texts: string[] = [];
  const listeners = new Map<string, (event: string, data: unknown) => void>();
  const hls = {
    config: {
      ...Hls.DefaultConfig,
      renderTextTracksNatively: false,
      cueHandler: {
        newCue(_track: unknown, _start: number, _end: number, screen: { getDisplayText(): string }) {
          texts.push(screen.getDisplayText());
          return [];
        },
      },
    },
    levels: [],
    on: (event: Events, listener: () => void, context: object) =>
      listeners.set(event, listener.bind(context)),
    trigger: () => {},
    logger: { log: () => {} },
  };
  const Controller = config.timelineController!;
  new Controller(hls as unknown as Hls);
  listeners.get(Hls.Events.MANIFEST_LOADING)?.('', {});
  let pts = 0;
  for (const { sn, part, pairs } of parts) {
    const frag = { type: 'main', sn, cc: 0, level: 0 };
    listeners.get(Hls.Events.FRAG_LOADING)?.('', { frag, part: { index: part } });
    const samples = pairs.map(([first, second]) => {
      pts += 0.04;
      return { pts, bytes: Uint8Array.of(0x41, 0xff, 0xfc, first, second) };
    });
    listeners.get(Hls.Events.FRAG_PARSING_USERDATA)?.('', { frag, samples });
  }
  return texts.filter(text => text !== '');
}

const words = ['First', 'Second', 'Third', 'Fourth'];
/** Two parts per caption, two captions per segment. */
const parts = words.flatMap((text, index) => {
  const pairs = captionPairs(text);
  const sn = 1 + Math.floor(index / 2);
  return [pairs.slice(0, 6), pairs.slice(6)].map((half, part) => ({
    sn,
    part: 2 * (index % 2) + part,
    pairs: half,
  }));
});

test('a caption that continues in the next part is whole', () => {
  const shown = ['First', 'First\nSecond', 'Second\nThird'];
  expect(cuesOf(keepCaptionsBetweenParts(Hls), parts)).toEqual(shown);
});

test('captions are dropped behind a jump', () => {
  const skipped = parts.map(part => (part.sn === 2 ? { ...part, sn: 5 } : part));
  expect(cuesOf(keepCaptionsBetweenParts(Hls), skipped)).toEqual(['First', 'Third']);
});

test('the workaround is still needed', () => {
  expect(cuesOf(Hls.DefaultConfig, parts)).not.toContain('Second');
});
