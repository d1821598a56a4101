export type KeyAction =
  | {
      readonly does:
        | 'toggle-play'
        | 'mute'
        | 'fullscreen'
        | 'captions'
        | 'picture-in-picture'
        | 'theatre'
        | 'next'
        | 'previous'
        | 'help';
    }
  | { readonly does: 'seek-by'; readonly seconds: number }
  /** 0 is the start or the oldest live position, 1 the end or the live edge. */
  | { readonly does: 'seek-to'; readonly part: number }
  | { readonly does: 'volume' | 'rate' | 'frame'; readonly steps: 1 | -1 };

const actions: Readonly<Record<string, KeyAction>> = {
  ' ': { does: 'toggle-play' },
  k: { does: 'toggle-play' },
  m: { does: 'mute' },
  f: { does: 'fullscreen' },
  c: { does: 'captions' },
  p: { does: 'picture-in-picture' },
  t: { does: 'theatre' },
  N: { does: 'next' },
  P: { does: 'previous' },
  arrowleft: { does: 'seek-by', seconds: -5 },
  arrowright: { does: 'seek-by', seconds: 5 },
  j: { does: 'seek-by', seconds: -10 },
  l: { does: 'seek-by', seconds: 10 },
  arrowup: { does: 'volume', steps: 1 },
  arrowdown: { does: 'volume', steps: -1 },
  home: { does: 'seek-to', part: 0 },
  end: { does: 'seek-to', part: 1 },
  '<': { does: 'rate', steps: -1 },
  '>': { does: 'rate', steps: 1 },
  ',': { does: 'frame', steps: -1 },
  '.': { does: 'frame', steps: 1 },
  '?': { does: 'help' },
};

export function keyActionOf(key: string): KeyAction | undefined {
  if (/^\d$/.test(key)) return { does: 'seek-to', part: Number(key) / 10 };
  const name = [key, key.toLowerCase()].find(each => Object.hasOwn(actions, each));
  return name === undefined ? undefined : actions[name];
}

export function isRepeatable({ does }: KeyAction): boolean {
  return does === 'seek-by' || does === 'volume' || does === 'frame';
}
