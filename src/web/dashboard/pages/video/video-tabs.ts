import { t } from '../../texts/video.ts';

const tabs = ['details', 'captions', 'share', 'analytics'] as const;

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
  /** The name of the tab until it was *Share*. */
  distribution: 'share',
  links: 'share',
  embed: 'share',
  download: 'share',
  playback: 'share',
  'playback-policy': 'share',
  player: 'share',
  watermark: 'share',
  views: 'analytics',
  plays: 'analytics',
};

export function parseTab(part: string | undefined): VideoTab {
  return tabNamed(part) ?? 'details';
}

/** @param hash such as `#chapters`; undefined for one that is not of this page */
export function tabOfAnchor(hash: string): VideoTab | undefined {
  return tabNamed(hash.slice(1));
}

function tabNamed(name = ''): VideoTab | undefined {
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
