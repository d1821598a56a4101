import { describe, expect, it } from 'vitest';
import { accentStyles, contrast, parse } from '../../../../src/delivery/channel/accent-colors.ts';

const white = parse('#ffffff');
const darkPage = parse('#0f1519');

describe('the accent color of a channel', () => {
  it('can be read on light and on dark pages, whatever the owner chose', () => {
    for (const color of ['#000000', '#ffffff', '#ffee00', '#0a7a66', '#7f7f7f', '#0000ff', '#ff0000']) {
      const [brand, onDark, onLight] = [...accentStyles(color).matchAll(/#[0-9a-f]{6}/g)].map(
        ([found]) => found,
      );
      expect(brand).toBe(color);
      expect(contrast(parse(onLight!), white), color).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parse(onDark!), darkPage), color).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('stays as it is where it can be read', () => {
    expect(accentStyles('#0a6a56')).toContain('light-dark(#0a6a56,');
    expect(accentStyles('#ffee00')).toContain('--accent-on-dark:#ffee00');
  });
});
