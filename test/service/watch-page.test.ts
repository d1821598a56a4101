import { describe, expect, it, onTestFinished } from 'vitest';
import { PrivateSessionsStore } from '../../src/resources/playback/private-sessions/private-sessions.store.ts';
import { PrivateTokens } from '../../src/resources/playback/private-sessions/private-tokens.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { playbackGateOf } from '../support/playback-gate.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { FolderVideos, hiddenId, videoId } from '../support/vod-fixture.ts';
import { protocols, publicStream, startDelivery } from './delivery-fixture.ts';

const base = 'https://video.example.org';
const hostile = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"'\`&amp;\u0000\u2028\u202e{{state}}`;
const recorded = { videoId: 'viOther00000000000000000', title: 'Pier' };

async function started(options: { protocol?: (typeof protocols)[number]; isDecidedByHook?: boolean } = {}) {
  const videos = new FolderVideos(await testTempDir());
  const database = await openTestDatabase(await testTempDir());
  const tokens = await PrivateTokens.open(database, systemClock);
  const sessions = new PrivateSessionsStore({ database, tokens, clock: systemClock, maxCached: 100 });
  const text = { description: 'A film.\n1:05 The sea\nSee https://example.com/a?b=1&c=2).' };
  const server = await startDelivery(options.protocol ?? 'HTTP/1.1', {
    vod: videos,
    publicUrl: () => base,
    playback: playbackGateOf({
      sessions,
      publicUrl: () => base,
      clock: systemClock,
      ...(options.isDecidedByHook === true
        ? { askPlayHook: () => ({ isAsked: true, refusal: undefined }) }
        : {}),
    }),
    watch: {
      details: async () => ({ description: text.description, publishedAtMs: Date.UTC(2026, 4, 6) }),
      recordingOf: async () => recorded,
    },
  });
  onTestFinished(() => database.stop());
  return Object.assign(server, {
    videos,
    text,
    mint: () => tokens.mint(hiddenId),
    page: async (path: string, headers: Record<string, string> = {}) => {
      const { status, headers: answered, body } = await server.ask(path, headers);
      return { status, headers: answered, html: body.toString() };
    },
  });
}

const isWatchPage = (html: string) => html.includes('<main id="page"');

describe.each(protocols)('the watch page over %s', protocol => {
  it('is for pages that are opened by themselves; a frame, a script and the options of players get the player', async () => {
    await using server = await started({ protocol });
    for (const path of [`/vod/${videoId}`, `/live/${publicStream}`]) {
      const kindOf = async (query: string, destination?: string) => {
        const headers: Record<string, string> =
          destination === undefined ? {} : { 'sec-fetch-dest': destination };
        const { status, headers: answered, html } = await server.page(path + query, headers);
        expect(status).toBe(200);
        expect(answered.vary).toBe('Accept-Encoding, Sec-Fetch-Dest');
        return isWatchPage(html);
      };
      expect([await kindOf(''), await kindOf('', 'document'), await kindOf('?t=3', 'document')]).toEqual([
        ...[true, true, true],
      ]);
      for (const destination of ['iframe', 'frame', 'embed', 'object', 'fencedframe', 'empty'])
        expect([destination, await kindOf('', destination)]).toEqual([destination, false]);
      for (const query of ['?embed', '?embed=', '?a=1&Embed', '?api', '?sdk-player-id=3', '?chromeless'])
        expect([query, await kindOf(query, 'document')]).toEqual([query, false]);
    }
  });
});

describe('the watch page', () => {
  it('works without its script: title, date, description with links, and what search engines read', async () => {
    await using server = await started();
    const { html, headers } = await server.page(`/vod/${videoId}`);
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(html).toContain('<h1 id="watch-title" class="title" dir="auto">Pier &#60;cam&#62;</h1>');
    expect(html).toContain('<time datetime="2026-05-06T00:00:00.000Z">May 6, 2026</time>');
    expect(html).toContain('<a href="#t=65" dir="ltr">1:05</a> The sea');
    expect(html).toContain(
      'See <a href="https://example.com/a?b=1&#38;c=2" dir="ltr" rel="nofollow noopener noreferrer ugc">https://example.com/a?b=1&#38;c=2</a>).',
    );
    expect(html).toContain(`<link rel="canonical" href="${base}/vod/${videoId}">`);
    expect(html).toContain('<meta property="og:description" content="A film. 1:05 The sea See');
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)!;
    expect(JSON.parse(data)).toMatchObject({
      '@type': 'VideoObject',
      name: 'Pier <cam>',
      duration: 'PT62S',
      uploadDate: '2026-05-06T00:00:00.000Z',
      embedUrl: `${base}/vod/${videoId}?embed`,
    });
    const live = await server.page(`/live/${publicStream}`);
    expect(live.html).toContain(`<a href="/vod/${recorded.videoId}" data-text="watchRecording">`);
  });

  it('escapes every text', async () => {
    await using server = await started();
    server.videos.set(videoId, { title: hostile });
    server.text.description = `${hostile} https://example.com/"onmouseover=alert(3) javascript:alert(4)`;
    const { html } = await server.page(`/vod/${videoId}`);
    const scripts = [...html.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    expect(scripts).toEqual([
      '<script type="application/ld+json">',
      expect.stringMatching(/^<script type="module" src="\/assets\/watch-[0-9A-Z]{8}\.js">$/),
      expect.stringMatching(/^<script src="\/assets\/watch-start-[0-9A-Z]{8}\.js">$/),
    ]);
    expect(html).not.toContain('<img src=x');
    expect(html.replace(/<script type="application.*?<\/script>/, '')).not.toMatch(
      /href="javascript|"onmouseover/,
    );
    expect(html).not.toContain('\u2028</script>');
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)!;
    expect((JSON.parse(data) as { name: string }).name).toBe(hostile);
  });

  it('shows addresses in descriptions as they are, whatever the direction of the text around them', async () => {
    await using server = await started();
    server.text.description = 'A \u202e1:05 https://example.com/\u202eknab https://a.example/\u2067b\u200fc';
    const { html } = await server.page(`/vod/${videoId}`);
    const links = [...html.matchAll(/<a href="([^"]*)" dir="ltr"[^>]*>([^<]*)<\/a>/g)];
    expect(links.map(([, href, text]) => [href, text])).toEqual([
      ['#t=65', '1:05'],
      ['https://example.com/', 'https://example.com/'],
      ['https://a.example/', 'https://a.example/'],
    ]);
  });

  it('of a private video shares nothing, and is for its viewer alone', async () => {
    await using server = await started();
    for (const path of [`/vod/${hiddenId}`, `/vod/${hiddenId}?token=x`, `/vod/${hiddenId}?embed`]) {
      const { status, html } = await server.page(path);
      expect([path, status]).toEqual([path, 404]);
      expect(html).not.toMatch(/Hidden|A film|og:|ld\+json|viOther/);
    }
    const { html, headers } = await server.page(`/vod/${hiddenId}?token=${server.mint()}`);
    expect(headers['cache-control']).toBe('private, no-cache');
    expect(html).toContain('Hidden');
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).not.toMatch(/og:|twitter:|ld\+json|canonical|oembed/);
    expect(html).toContain('data-shareable="false"');
    expect(/data-address="([^"]*)"/.exec(html)![1]).toMatch(/\?token=[\w-]+&#38;avh=[\w-]{43}$/);
  });

  it('of a public video passes options of its address on to the player, but no token', async () => {
    await using server = await started();
    const { html } = await server.page(`/vod/${videoId}?token=secret&avh=secret&muted&t=10`);
    expect(html).toContain(`data-address="/vod/${videoId}?muted=&#38;t=10"`);
    expect(html).not.toContain('secret');
  });

  it('offers no recording where a hook decides about each video', async () => {
    await using server = await started({ isDecidedByHook: true });
    expect((await server.page(`/live/${publicStream}`)).html).not.toContain(recorded.videoId);
    expect((await server.ask(`/live/${publicStream}/recording`)).status).toBe(204);
  });

  it('finds the recording once the broadcast has ended', async () => {
    await using server = await started();
    const ask = () => server.ask(`/live/${publicStream}/recording`);
    expect(JSON.parse((await ask()).body.toString())).toEqual(recorded);
    server.begin('b1');
    expect((await ask()).status).toBe(204);
    expect((await server.page(`/live/${publicStream}`)).html).not.toContain('watchRecording');
  });

  it('answers addresses of nothing as before', async () => {
    await using server = await started();
    for (const path of ['/vod/', '/vod/vi', `/vod/${videoId}x`, `/vod/%76i${videoId.slice(2)}`, '/live/liX'])
      expect([path, (await server.page(path, { 'sec-fetch-dest': 'document' })).status]).toEqual([path, 404]);
  });
});
