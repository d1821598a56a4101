import { describe, expect, it } from 'vitest';
import { embedCode, fixedSize } from '../../../../../src/web/dashboard/format/embed-code.ts';

const player = {
  url: 'https://a.test/vod/vi1?token=1&x=2',
  title: 'Pier',
  size: { width: 1920, height: 800 },
};

describe('embedCode', () => {
  it('has the aspect ratio of the picture, and 16/9 where there is none', () => {
    expect(embedCode(player, 'responsive')).toContain('aspect-ratio:12/5!important');
    expect(embedCode({ ...player, size: undefined }, 'responsive')).toContain('aspect-ratio:16/9!important');
  });

  it('is as wide as its place, or of a fixed size whose longer side has 640 pixels', () => {
    expect(embedCode(player, 'responsive')).toMatch(/^<div style="box-sizing:border-box;width:100%">/);
    expect(embedCode(player, 'fixed')).toMatch(
      /^<div style="box-sizing:border-box;width:640px;max-width:100%">/,
    );
    expect(embedCode(player, 'fixed')).toContain('width="640" height="267"');
    expect(fixedSize({ ...player, size: { width: 1080, height: 1920 } })).toEqual({
      width: 360,
      height: 640,
    });
  });

  it('shows a tall picture whole', () => {
    const tall = { ...player, size: { width: 1080, height: 1920 } };
    expect(embedCode(tall, 'responsive')).toContain('max-width:calc(90vh*9/16)');
  });

  it('loads the element from the server of its address, below its base path', () => {
    expect(embedCode({ ...player, url: 'https://a.test/media/live/li1?token=1&x=2' }, 'element')).toBe(
      '<script type="module" src="https://a.test/media/player.js"></script><millrace-player src="https://a.test/media/live/li1?token=1&#38;x=2"></millrace-player>',
    );
  });

  it('escapes the address and the title', () => {
    const code = embedCode({ ...player, title: '"><script>' }, 'responsive');
    expect(code).toContain('src="https://a.test/vod/vi1?token=1&#38;x=2" title="&#34;&#62;&#60;script&#62;"');
  });
});
