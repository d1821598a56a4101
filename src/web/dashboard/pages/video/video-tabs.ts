import { t } from '../../texts/video.ts';

const tabs = ['details', 'captions', 'distribution', 'analytics'] as const;

export type VideoTab = (typeof tabs)[number];

/** Parts of the page by the names that they have in addresses. */
const tabsOfAnchors: Readonly<Record<string, VideoTab>> = {
  tags: 'details',
  thumbnail: 'details',
  metadata: 'details',
  file: 'details',
  renditions: 'details',
  qualities: 'details',
  chapters: 'captions',
  'audio-tracks': 'captions',
  transcript: 'captions',
  summary: 'captions',
  share: 'distribution',
  links: 'distribution',
  embed: 'distribution',
  download: 'distribution',
  playback: 'distribution',
  'playback-policy': 'distribution',
  player: 'distribution',
  watermark: 'distribution',
  views: 'analytics',
  plays: 'analytics',
};

export function parseTab(part: string | undefined): VideoTab {
  return tabs.find(id => id === part) ?? 'details';
}

/** @param hash such as `#chapters`; undefined for one that is not of this page */
export function tabOfAnchor(hash: string): VideoTab | undefined {
  const name = hash.slice(1);
  const tab = tabs.find(id => id === name);
  return tab ?? (Object.hasOwn(tabsOfAnchors, name) ? tabsOfAnchors[name] : undefined);
}

export function tabHref(videoId: string, tab: VideoTab): string {
  const address = `/dashboard/videos/${videoId}`;
  return tab === 'details' ? address : `${address}?part=${tab}`;
}

export function tabLinks(videoId: string): readonly { readonly href: string; readonly label: string }[] {
  return tabs.map(id => ({ href: tabHref(videoId, id), label: t(`video.tabs.${id}`) }));
}
