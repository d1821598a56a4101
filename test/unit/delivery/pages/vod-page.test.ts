import { describe, expect, it } from 'vitest';
import { describeEmbed, shareableVideo, socialMeta } from '../../../../src/delivery/pages/page-sharing.ts';
import { describeVideo, renderVodPage } from '../../../../src/delivery/pages/vod-page.ts';
import type { PrivateAccess } from '../../../../src/delivery/private-sessions.ts';
import type { VodEntry } from '../../../../src/delivery/vod/vod-source.ts';

const videoId = 'vi0123456789012345678901';
const base = 'https://video.example.org';
const hostile = `"><script>'&{{meta}}</script>`;
const entry: VodEntry = {
  videoId,
  projectId: 'prOfTest',
  title: 'Pier',
  public: true,
  listed: false,
  isSandbox: false,
  policy: undefined,
  limits: undefined,
  clippedFrom: undefined,
  mp4Support: true,
  panoramic: false,
  isPlayable: true,
  hasFailed: false,
  hasStoryboard: true,
  durationSeconds: undefined,
  width: undefined,
  height: undefined,
  revision: 1,
  captions: async () => [],
  chapters: async () => [],
  theme: async () => undefined,
};
const extras = {
  hasThumbnail: true,
  captions: [{ language: 'pt-BR', label: 'Português', isDefault: false }],
  chapters: [],
  theme: undefined,
};
const none = new URLSearchParams();
const described = (video: VodEntry, hasMp4: boolean, access?: PrivateAccess) =>
  describeVideo(video, { ...extras, hasMp4 }, access);

describe('describeVideo', () => {
  it('says null of what is not known or not there', () => {
    const state = described({ ...entry, hasStoryboard: false }, false);
    expect(state).toMatchObject({ duration: null, width: null, height: null, mp4: null, storyboard: null });
    expect(described({ ...entry, mp4Support: false }, true).mp4).toBeNull();
  });

  it('puts token and session into every address of a private video', () => {
    const state = described({ ...entry, public: false }, true, { token: 't', avh: 's' });
    for (const address of [state.hls, state.mp4, state.poster, state.storyboard, state.captions[0]!.src]) {
      expect(address).toMatch(new RegExp(`^/vod/${videoId}/token/t/.*\\?avh=s$`));
    }
  });
});

describe('renderVodPage', () => {
  it('escapes a hostile title in text and in attributes', () => {
    const state = described({ ...entry, title: hostile }, true);
    const page = renderVodPage('<title>{{title}}</title><a b="{{state}}">{{meta}}', state, {
      meta: 'META',
    });
    expect(page).not.toContain('<script>');
    expect(page).toContain('{{meta}}&#60;/script&#62;</title>');
    expect(page.endsWith('>META')).toBe(true);
  });

  it('has a title for a video without one', () => {
    expect(renderVodPage('{{title}}', described({ ...entry, title: ' ' }, true), { meta: '' })).toBe('Video');
  });
});

describe('what a page tells other sites', () => {
  it('is escaped', () => {
    const state = described({ ...entry, title: hostile }, true);
    expect(socialMeta(shareableVideo(state), base)).not.toContain('<script>');
    expect(describeEmbed(shareableVideo(state), `${base}/"`, none).html).toContain(
      'src="https://video.example.org/&#34;/vod/',
    );
  });

  it('has absolute addresses of page, image and file', () => {
    const meta = socialMeta(shareableVideo(described(entry, true)), base);
    for (const path of ['', '/thumbnail.jpg', '/mp4/source.mp4', '/oembed.json']) {
      expect(meta).toContain(`"${base}/vod/${videoId}${path}"`);
    }
    expect(socialMeta(shareableVideo(described(entry, false)), base)).not.toContain('mp4');
    expect(socialMeta(shareableVideo(described(entry, false)), 'http://a')).not.toContain('secure_url');
  });

  it('has a size also for what has no picture, and keeps a tall picture tall', () => {
    expect(describeEmbed(shareableVideo(described(entry, false)), base, none)).toMatchObject({
      width: 640,
      height: 360,
    });
    const tall = described({ ...entry, width: 1080, height: 1920 }, false);
    expect(
      describeEmbed(shareableVideo(tall), base, new URLSearchParams('maxwidth=300&maxheight=300')),
    ).toMatchObject({ width: 168, height: 300 });
  });
});
