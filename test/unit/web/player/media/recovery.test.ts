import { describe, expect, it } from 'vitest';
import { Recovery, StallDetector } from '../../../../../src/web/player/media/recovery.ts';

describe('Recovery', () => {
  it('rebuilds the buffers first, and reloads when that did not help', () => {
    const recovery = new Recovery();
    expect(recovery.afterMediaFault(0)).toBe('recover-media');
    expect(recovery.afterMediaFault(3000)).toBe('reload');
    expect(recovery.afterMediaFault(60_000)).toBe('recover-media');
  });
});

describe('StallWatch', () => {
  it('is content while the playhead moves', () => {
    const watch = new StallDetector();
    for (let second = 0; second < 60; second++) expect(watch.tick(second, second + 1)).toBe('fine');
  });

  it('seeks, rebuilds and reloads, in this order, when media comes and the playhead stands', () => {
    const watch = new StallDetector();
    const verdicts: string[] = [];
    for (let second = 0; second <= 15; second++) {
      const verdict = watch.tick(5, second + 10);
      if (verdict !== 'fine') verdicts.push(`${second} ${verdict}`);
    }
    expect(verdicts).toEqual(['6 seek', '10 recover-media', '15 reload']);
  });

  it('does nothing but say so while the broadcaster sends nothing', () => {
    const watch = new StallDetector();
    watch.tick(5, 6);
    const verdicts = Array.from({ length: 40 }, () => watch.tick(5, 6));
    expect(new Set(verdicts.slice(2))).toEqual(new Set(['source-silent']));
    expect(watch.tick(5, 7)).toBe('fine');
  });
});
