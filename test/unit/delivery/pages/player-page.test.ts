import { describe, expect, it } from 'vitest';
import { pageHeaders } from '../../../../src/delivery/pages/page-sender.ts';
import { describeLivePlayer, renderPlayerPage } from '../../../../src/delivery/pages/player-page.ts';
import { fillTemplate } from '../../../../src/http/pages/browser-text.ts';
import { escapeHtml } from '../../../../src/shared/escape-html.ts';

const values = {
  liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
  state: '{"live":false}',
  basePath: '',
  nowMs: 7,
  meta: '<meta name="of-test">',
  playlist: undefined,
  hasThumbnail: false,
  theme: undefined,
  ultraLowLatency: false,
  viewerClips: false,
  access: undefined,
};

describe('renderPlayerPage', () => {
  it('escapes a hostile name in text and in attributes', () => {
    const template = '<title>{{title}}</title><video aria-label="{{title}}">';
    const page = renderPlayerPage(template, { ...values, name: `"><script>'&{{state}}</script>` });
    const escaped = '&#34;&#62;&#60;script&#62;&#39;&#38;{{state}}&#60;/script&#62;';
    expect(page).toBe(`<title>${escaped}</title><video aria-label="${escaped}">`);
  });

  it('has a title for a stream without a name', () => {
    expect(renderPlayerPage('{{title}}', { ...values, name: ' ' })).toBe('Live stream');
  });

  it('tells the script the theme, escaped', () => {
    const theme = {
      colors: { text: 'rgba(1, 2, 3, 1)' },
      enableApi: true,
      enableControls: false,
      forceAutoplay: false,
      forceLoop: false,
      hideTitle: true,
      link: `"><script>`,
    };
    const page = renderPlayerPage('{{state}}', { ...values, name: 'x', theme });
    expect(page).not.toMatch(/[<>"]/);
    expect(page).toContain('rgba(1, 2, 3, 1)');
  });

  it('carries the session of a private stream in all that it asks for', () => {
    const access = { token: 't0', avh: 's0' };
    const root = `/private/t0/${values.liveStreamId}`;
    expect(describeLivePlayer({ ...values, name: 'x', access })).toMatchObject({
      hls: `${root}.m3u8?avh=s0`,
      query: '?avh=s0&token=t0',
      poster: `${root}/thumbnail.jpg?avh=s0`,
    });
    expect(describeLivePlayer({ ...values, name: 'x' })).toMatchObject({
      hls: `/${values.liveStreamId}.m3u8`,
      query: '',
      poster: `/${values.liveStreamId}/thumbnail.jpg`,
    });
    expect(renderPlayerPage('{{meta}}', { ...values, name: 'x', access })).toBe(values.meta);
  });

  it('preloads the playlists of a running broadcast; the player chooses among several variants', () => {
    const template = '{{playlists}}';
    const variant = '#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.64001f"\nliX/br1/source/index.m3u8\n';
    const link = (href: string) => `<link rel="preload" as="fetch" crossorigin href="${href}">\n`;
    const page = (playlist: string | undefined, access?: { token: string; avh: string }) =>
      renderPlayerPage(template, { ...values, name: 'x', playlist, access });
    const hls = `/${values.liveStreamId}.m3u8`;
    expect(page(undefined)).toBe('');
    expect(page(`#EXTM3U\n${variant}`)).toBe(link(hls) + link('/liX/br1/source/index.m3u8?_HLS_msn=0'));
    expect(page(`#EXTM3U\n${variant}${variant}`)).toBe(link(hls));
    expect(page(`#EXTM3U\n${variant}`, { token: 't0', avh: 's0' })).toBe(
      link(`/private/t0${hls}?avh=s0`) + link('/private/t0/liX/br1/source/index.m3u8?_HLS_msn=0'),
    );
  });
});

describe('escapeHtml', () => {
  it('leaves other text alone', () => {
    expect(escapeHtml('Käse, 東京, 🎬')).toBe('Käse, 東京, 🎬');
  });
});

describe('fillTemplate', () => {
  it('does not fill what a value brings along', () => {
    expect(fillTemplate('{{a}}{{b}}{{c}}', { a: '{{b}}', b: '$&' })).toBe('{{b}}$&{{c}}');
  });
});

describe('pageHeaders', () => {
  it('let every site embed the page, and the page load nothing from elsewhere', () => {
    const policy = pageHeaders[pageHeaders.indexOf('Content-Security-Policy') + 1];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain('frame-ancestors *');
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
  });
});
