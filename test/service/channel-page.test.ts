import { describe, expect, it } from 'vitest';
import type {
  AnnouncedStream,
  Channel,
  ChannelSource,
  ChannelVideo,
} from '../../src/delivery/channel/channel-source.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { FolderVideos, hiddenId, videoId } from '../support/vod-fixture.ts';
import { privateStream, protocols, publicStream, startDelivery } from './delivery-fixture.ts';

const base = 'https://video.example.org/media';
const hostile = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"'\`&amp;\u0000\u2028\u202e{{live}}]]>`;
const pairId = 'pp5Tg2Hn8Jm4Kw7Lq1Pz3Xc6';
const pier: Channel = {
  projectId: 'prOfTest',
  pairId,
  slug: 'pier-tv',
  name: 'Pier TV',
  description: 'Live from the harbor.\nEvery day.',
  accentColor: '#ffee00',
  hasLogo: true,
  updatedAtMs: 7,
  isRestricted: false,
};
const listed = Array.from({ length: 60 }, (_, index) => ({
  videoId: `vi${String(index).padStart(22, '0')}`,
  title: `Film ${index}`,
  description: '',
  publishedAtMs: Date.UTC(2026, 4, 6) - index * 3_600_000,
  durationSeconds: 3725,
}));

async function started(
  options: {
    protocol?: (typeof protocols)[number];
    channel?: Partial<Channel> | null;
    videos?: readonly ChannelVideo[];
    frontPage?: string;
    showViewers?: boolean;
    announced?: readonly AnnouncedStream[];
  } = {},
) {
  const { channel: changes = {}, videos: list = listed } = options;
  let channel = changes === null ? undefined : { ...pier, ...changes };
  const asked: unknown[] = [];
  const found = (isIt: boolean) => async () => (isIt ? channel : undefined);
  const channels: ChannelSource = {
    findBySlug: slug => found(slug === channel?.slug)(),
    findByProject: projectId => found(projectId === channel?.projectId)(),
    findByPair: id => found(id === pairId)(),
    logo: async slug =>
      slug === channel?.slug ? { body: Buffer.from('logo'), contentType: 'image/png' } : undefined,
    videos: async (_, request) => {
      asked.push(request);
      const { after, search = '', limit } = request;
      const start = after === undefined ? 0 : list.findIndex(one => one.videoId === after.videoId) + 1;
      return list.slice(start, start + limit).filter(({ title }) => title.includes(search));
    },
    announcedStreams: async () => options.announced ?? [],
    liveStreams: async () => [
      { liveStreamId: publicStream, name: hostile, showViewers: options.showViewers ?? true },
    ],
  };
  const films = new FolderVideos(await testTempDir());
  const server = await startDelivery(options.protocol ?? 'HTTP/1.1', {
    channels,
    frontPage: options.frontPage,
    viewersOf: async () => 1234,
    publicUrl: () => base,
    vod: films,
    watch: {
      details: async () => ({ description: '', publishedAtMs: Date.UTC(2026, 4, 7) }),
      recordingOf: async () => undefined,
    },
  });
  return Object.assign(server, {
    films,
    asked,
    change: (to: Channel | undefined) => {
      channel = to;
    },
    page: async (path: string, headers: Record<string, string> = {}) => {
      const { status, headers: answered, body } = await server.ask(path, { accept: 'text/html', ...headers });
      return { status, headers: answered, html: body.toString() };
    },
  });
}

const idsIn = (html: string) =>
  [...html.matchAll(/class="card" href="\/media\/vod\/(\w+)"/g)].map(([, id]) => id);

describe.each(protocols)('a channel over %s', protocol => {
  it('has a page, a feed, a logo and its color, and none of them where no project has turned it on', async () => {
    await using server = await started({ protocol });
    const { status, headers, html } = await server.page('/channel/pier-tv');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers.vary).toBe('Accept, Accept-Encoding, Accept-Language');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'.*form-action 'self'/);
    expect(html).toContain('<h1 dir="auto">Pier TV</h1>');
    for (const [path, type] of [
      ['/channel/pier-tv/feed.xml', 'application/rss+xml; charset=utf-8'],
      ['/channel/pier-tv/logo?v=7', 'image/png'],
      ['/channel/colors/ffee00.css', 'text/css; charset=utf-8'],
    ] as const) {
      const answer = await server.ask(path);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
    }
    await using none = await started({ protocol, channel: null });
    for (const path of ['', '/feed.xml', '/logo'])
      expect([path, (await none.page(`/channel/pier-tv${path}`)).status]).toEqual([path, 404]);
    for (const path of ['/channel/', '/channel/PIER', '/channel/a--b', '/channel/%C3%A9', '/channel/pier/']) {
      const { status, headers } = await server.page(path);
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
    }
    expect((await server.page('/channel/Pier-TV')).status).toBe(200);
    expect((await none.page('/channel/colors/red.css')).status).toBe(404);
  });
});

describe('the page of a channel', () => {
  it('lists videos in parts that links lead through, without a script', async () => {
    await using server = await started();
    const first = await server.page('/channel/pier-tv');
    expect(idsIn(first.html)).toEqual(listed.slice(0, 24).map(video => video.videoId));
    expect(first.html).toContain('<span class="duration">1:02:05</span>');
    expect(first.html).toContain(
      '<time class="card-meta" datetime="2026-05-06T00:00:00.000Z">May 6, 2026</time>',
    );
    expect(first.html).not.toContain('<script src');
    const ids: (string | undefined)[] = [];
    let html = first.html;
    for (;;) {
      ids.push(...idsIn(html));
      const [, next] = /<a [^>]*href="\/media([^"]+)" rel="next">/.exec(html) ?? [];
      if (next === undefined) break;
      html = (await server.page(next)).html;
      expect(html).toContain('<meta name="robots" content="noindex">');
      expect(html).toContain('<a class="button is-quiet" href="/media/channel/pier-tv">Newest videos</a>');
    }
    expect(ids).toEqual(listed.map(video => video.videoId));
  });

  it('searches, and keeps the words', async () => {
    await using server = await started();
    const { html } = await server.page(`/channel/pier-tv?q=${encodeURIComponent(' Film 1 ')}`);
    expect(server.asked.at(-1)).toMatchObject({ search: 'Film 1' });
    expect(html).toContain('value="Film 1"');
    expect(html).toContain('Search results');
    expect(html).not.toContain('class="hero"');
    const none = await server.page(`/channel/pier-tv?q=${encodeURIComponent(hostile)}`);
    expect(none.html).toContain('No videos match your search.');
    expect(none.html).not.toContain('<img src=x');
    for (const query of ['?after=x', '?after=1.vi', '?q=%00', '?q=', '?after=%F0'])
      expect(idsIn((await server.page(`/channel/pier-tv${query}`)).html)).toHaveLength(24);
  });

  it('begins with what is live, and tells the viewers where the owner shows them', async () => {
    await using server = await started();
    expect((await server.page('/channel/pier-tv')).html).not.toContain('class="hero"');
    await using live = await started();
    live.begin('b2');
    const { html } = await live.page('/channel/pier-tv');
    expect(html).toContain(`<a class="hero" href="/media/live/${publicStream}">`);
    expect(html).toContain('Watching now: 1,234');
    await using silent = await started({ showViewers: false });
    silent.begin('b2');
    expect((await silent.page('/channel/pier-tv')).html).not.toContain('Watching now');
  });

  it('announces what is planned, and has a script for its times only then', async () => {
    const announced = [
      { liveStreamId: publicStream, name: hostile, startsAtMs: Date.UTC(2030, 2, 4, 19, 30) },
    ];
    await using server = await started({ announced });
    const { html, headers } = await server.page('/channel/pier-tv', { 'accept-language': 'de' });
    expect(html).toContain('<h2 id="announced-title">Demnächst</h2>');
    expect(html).toContain(`<a class="card" href="/media/live/${publicStream}">`);
    expect(html).toContain(
      'datetime="2030-03-04T19:30:00.000Z" data-local>Montag, 4. März 2030 um 19:30 UTC</time>',
    );
    expect(html).toContain(`href="/media/live/${publicStream}/start.ics"`);
    expect(html).not.toContain('<img src=x');
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    const [, script] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    expect((await server.ask(script!.replace('/media', ''))).status).toBe(200);
    expect((await server.page('/channel/pier-tv?q=Film')).html).not.toContain('announced-title');
    await using live = await started({ announced });
    live.begin('b2');
    expect((await live.page('/channel/pier-tv')).html).not.toContain('announced-title');
    await using none = await started();
    expect((await none.page('/channel/pier-tv')).html).not.toMatch(/announced-title|<script type="module"/);
  });

  it('is in the language of the browser, and written from right to left in Arabic', async () => {
    await using server = await started();
    const german = await server.page('/channel/pier-tv', { 'accept-language': 'de-AT' });
    expect(german.html).toContain('<html lang="de" dir="ltr">');
    expect(german.html).toContain('6. Mai 2026');
    expect(german.html).toContain('Videos suchen');
    const arabic = await server.page('/channel/pier-tv', { 'accept-language': 'ar' });
    expect(arabic.html).toContain('<html lang="ar" dir="rtl">');
  });

  it('escapes every text, and fills nothing in twice', async () => {
    const [video] = listed;
    await using server = await started({
      channel: { name: hostile, description: hostile, hasLogo: false },
      videos: [{ ...video!, title: hostile, description: hostile }],
    });
    server.begin('b2');
    const { html } = await server.page('/channel/pier-tv');
    expect([...html.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag)).toEqual([
      '<script type="application/ld+json">',
    ]);
    expect(html).not.toContain('<img src=x');
    expect(html).toContain('{{live}}');
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)!;
    expect(JSON.parse(data)).toMatchObject({ name: hostile });
    const feed = (await server.ask('/channel/pier-tv/feed.xml')).body.toString();
    expect(feed).not.toMatch(/<script|<img src=x/);
    expect(feed).not.toContain('\u0000');
  });

  it('tells other sites what it is', async () => {
    await using server = await started();
    const { html } = await server.page('/channel/pier-tv');
    const address = `${base}/channel/pier-tv`;
    expect(html).toContain(`<link rel="canonical" href="${address}">`);
    expect(html).toContain(`type="application/rss+xml" href="${address}/feed.xml"`);
    expect(html).toContain(
      `<meta property="og:image" content="${base}/vod/${listed[0]!.videoId}/thumbnail.jpg">`,
    );
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)!;
    expect(JSON.parse(data)).toMatchObject({
      '@type': 'CollectionPage',
      url: address,
      mainEntity: { itemListElement: { length: 24 } },
    });
    const colors = (await server.ask('/channel/colors/ffee00.css')).body.toString();
    expect(colors).toMatch(
      /^:root\{--brand:#ffee00;--accent-on-dark:#ffee00;--accent:light-dark\(#[0-9a-f]{6}/,
    );
    expect(html).toContain('href="/media/channel/colors/ffee00.css"');
  });

  it('has a feed whose items have their MP4 files', async () => {
    const media = {
      title: 'Film',
      description: 'Text',
      publishedAtMs: Date.UTC(2026, 4, 6),
      durationSeconds: 61.5,
    };
    await using server = await started({
      videos: [
        { videoId, ...media },
        { videoId: hiddenId, ...media },
      ],
    });
    const page = `${base}/vod/${videoId}`;
    server.films.bodies.set(`${videoId}/mp4`, {
      parts: [Buffer.from('film')],
      bytes: 4,
      contentType: 'video/mp4',
      etag: '"film"',
    });
    server.films.set(hiddenId, { mp4Support: false });
    const { headers, body } = await server.ask('/channel/pier-tv/feed.xml');
    const feed = body.toString();
    expect(headers.etag).toBeDefined();
    expect(feed).toContain(`<enclosure url="${page}/mp4/source.mp4" length="4" type="video/mp4"/>`);
    expect(feed).toContain('medium="video" duration="62"/>');
    expect(feed).toContain('<pubDate>Wed, 06 May 2026 00:00:00 GMT</pubDate>');
    expect(feed.match(/<item>/g)).toHaveLength(2);
    expect(feed.match(/<enclosure /g)).toHaveLength(1);
  });
});

it('a feed changes with its channel, and ends with it', async () => {
  await using server = await started();
  const feed = () => server.ask('/channel/pier-tv/feed.xml');
  expect((await feed()).body.toString()).toContain('<title>Pier TV</title>');
  server.change({ ...pier, projectId: 'prOfOthers', name: 'Quay TV' });
  expect((await feed()).body.toString()).toContain('<title>Quay TV</title>');
  server.change({ ...pier, name: 'Dock TV', updatedAtMs: 8 });
  expect((await feed()).body.toString()).toContain('<title>Dock TV</title>');
  server.change(undefined);
  expect((await feed()).status).toBe(404);
});

describe('the front page', () => {
  it('is the channel of the chosen project for browsers, and the API for others', async () => {
    await using server = await started({ frontPage: pairId });
    const { status, html } = await server.page('/?q=Film');
    expect(status).toBe(200);
    expect(html).toContain('action="/media/"');
    expect((await server.page('/')).html).toContain(`<link rel="canonical" href="${base}/">`);
    expect((await server.page('/channel/pier-tv')).html).toContain(`<link rel="canonical" href="${base}/">`);
    expect((await server.ask('/', { accept: 'application/json' })).body.toString()).toBe('the API');
    const preview = {
      accept: '*/*',
      'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    };
    expect((await server.ask('/', preview)).body.toString()).toContain(
      '<meta property="og:title" content="Pier TV">',
    );
    expect((await server.page('/x')).html).toBe('the API');
    await using without = await started();
    expect((await without.page('/')).html).toBe('the API');
  });

  it('leads to the dashboard while the channel is off', async () => {
    await using server = await started({ frontPage: pairId, channel: null });
    const { status, headers } = await server.page('/');
    expect([status, headers.location]).toEqual([302, '/dashboard']);
  });
});

it('players learn how many are watching, where the owner shows it', async () => {
  await using server = await started();
  const read = async (name: string) =>
    JSON.parse((await server.ask(`/live/${publicStream}/${name}`)).body.toString()) as object;
  const begun = { live: true, broadcastId: 'b2' };
  server.begin('b2');
  expect(await read('state')).toEqual(begun);
  expect(await read('player.json')).not.toHaveProperty('viewers');
  Object.assign(server.stream, { showViewers: true });
  expect(await read('state')).toEqual({ ...begun, viewers: 1234 });
  expect(await read('player.json')).toMatchObject({ showViewers: true, viewers: 1234 });
  server.current.live = false;
  expect(await read('state')).toEqual({ live: false, broadcastId: null });
});

describe('a watch page of a project with a channel', () => {
  const isIndexed = (html: string) => !html.includes('<meta name="robots" content="noindex">');

  it('offers what comes next, where the channel lists it', async () => {
    await using server = await started();
    server.films.set(videoId, { listed: true });
    Object.assign(server.stream, { listed: true });
    for (const path of [`/vod/${videoId}`, `/live/${publicStream}`]) {
      const { html } = await server.page(path);
      expect(html).toContain('<a class="channel" href="/media/channel/pier-tv" dir="auto">Pier TV</a>');
      expect(idsIn(html)).toEqual(listed.slice(0, 12).map(video => video.videoId));
      expect(isIndexed(html)).toBe(true);
    }
    const { html } = await server.page(`/vod/${videoId}`);
    const [, state = ''] = /data-state="([^"]*)"/.exec(html)!;
    const json = state.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
    expect(JSON.parse(json)).toMatchObject({
      next: { title: 'Film 0', path: `/vod/${listed[0]!.videoId}` },
    });
    const player = await server.page(`/vod/${videoId}?embed`);
    expect(player.html).not.toContain(listed[0]!.videoId);
  });

  it('tells nothing of the channel where only people with the link may watch, and search engines nothing of it', async () => {
    await using server = await started();
    for (const path of [`/vod/${videoId}`, `/live/${publicStream}`]) {
      const { html } = await server.page(path);
      expect([idsIn(html), html.includes('class="channel"'), isIndexed(html)]).toEqual([[], false, false]);
      expect(isIndexed((await server.page(`${path}?embed`)).html)).toBe(false);
      // Chats show whoever has the link what it leads to.
      expect(html).toContain('<meta property="og:title"');
      expect(html).not.toContain('ld+json');
    }
    await using none = await started({ channel: null });
    none.films.set(videoId, { listed: true });
    const { html } = await none.page(`/vod/${videoId}`);
    expect([idsIn(html), html.includes('class="channel"'), isIndexed(html)]).toEqual([[], false, true]);
    expect((await none.page(`/live/${privateStream}`)).status).toBe(404);
  });

  it('is not for search engines in the sandbox', async () => {
    await using server = await started({ channel: null });
    server.films.set(videoId, { isSandbox: true });
    Object.assign(server.stream, { isSandbox: true });
    for (const path of [`/vod/${videoId}`, `/live/${publicStream}`]) {
      expect(isIndexed((await server.page(path)).html)).toBe(false);
      expect(isIndexed((await server.page(`${path}?embed`)).html)).toBe(false);
    }
  });
});
