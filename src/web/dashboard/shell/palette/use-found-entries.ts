import { withBasePath } from '../../../shared/base-path.ts';
import { docsExcerpt, findDocs, type IndexedDocs, loadDocsIndex } from '../../../shared/docs-search.ts';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { titleOf } from '../../format/video-title.ts';
import { projectKey, session } from '../../state/session.ts';
import { t } from '../../texts/search.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useSettled } from '../../ui/hooks/use-timers.ts';
import { loadStatuses } from '../../ui/video/load-list-details.ts';
import { isAllowed } from '../nav-groups.ts';
import type { PaletteEntry, PaletteGroup } from './entry.ts';
import { findEntries, hasWords } from './find-entries.ts';

const pauseMs = 150;
const maxOfKind = 5;

interface Media {
  readonly query: string;
  readonly live: readonly PaletteEntry[];
  readonly videos: readonly PaletteEntry[];
}

interface FoundEntries {
  readonly groups: readonly PaletteGroup[];
  readonly isSearching: boolean;
  readonly hasFailed: boolean;
  retry(): void;
}

/** Searches what is not in the browser: media, settings of the server and the documentation. */
export function useFoundEntries(query: string): FoundEntries {
  const settled = useSettled(query, pauseMs);
  const media = useLoad(`${projectKey.value} ${settled}`, signal => findMedia(settled, signal));
  const server = useLoad(`server ${session.value?.role}`, loadServerSettings);
  const docs = useLoad('docs', loadDocs);
  const found = media.value;
  const isCurrent = found?.query === query && !media.isLoading;
  const of = (entries: readonly PaletteEntry[] = []) =>
    // Until the answer for what is typed arrives, the previous one is shown as far as it fits.
    (isCurrent ? entries : entries.filter(({ label }) => query !== '' && hasWords(label, query))).slice(
      0,
      maxOfKind,
    );
  return {
    groups: [
      { title: t('search.group.live'), entries: of(found?.live) },
      { title: t('search.group.videos'), entries: of(found?.videos) },
      { title: t('search.group.docs'), entries: docsEntries(docs.value, query) },
      {
        title: t('search.group.server'),
        entries: query === '' ? [] : findEntries(server.value ?? [], query, maxOfKind),
      },
    ],
    isSearching: query !== '' && !isCurrent && media.problem === undefined,
    hasFailed: query !== '' && !media.isLoading && media.problem !== undefined,
    retry: media.reload,
  };
}

async function findMedia(query: string, signal: AbortSignal): Promise<Media> {
  if (query === '') return { query, live: [], videos: [] };
  const page = { pageSize: maxOfKind, sortBy: 'updatedAt', sortOrder: 'desc' } as const;
  const [live, videos, video, streams] = await Promise.all([
    call('GET /live-streams', { query: { ...page, name: query }, signal }),
    call('GET /videos', { query: { ...page, title: query }, signal }),
    /^vi\w{10,}$/.test(query) ? findVideo(query, signal) : undefined,
    /^li\w{10,}$/.test(query)
      ? call('GET /live-streams', { query: { liveStreamId: query }, signal })
      : undefined,
  ]);
  return {
    query,
    live: [...(streams?.data ?? []), ...live.data].map(({ liveStreamId, name, broadcasting }) => ({
      id: `live:${liveStreamId}`,
      label: name,
      detail: broadcasting ? t('search.liveNow') : undefined,
      icon: 'live',
      href: `/dashboard/live/${liveStreamId}`,
    })),
    videos: [...(video === undefined ? [] : [video]), ...videos.data].map(one => ({
      id: `video:${one.videoId}`,
      label: titleOf(one),
      icon: 'video',
      href: `/dashboard/videos/${one.videoId}`,
    })),
  };
}

/** Undefined for an id of no video. Browsers would report a request for it as an error. */
async function findVideo(videoId: string, signal: AbortSignal): Promise<Video | undefined> {
  const isKnown = (await loadStatuses([{ videoId }], signal)).has(videoId);
  return isKnown ? call('GET /videos/{videoId}', { params: { videoId }, signal }) : undefined;
}

async function loadServerSettings(signal: AbortSignal): Promise<readonly PaletteEntry[]> {
  if (!isAllowed({ scope: 'admin', isForOperator: true })) return [];
  const { settings } = await call('GET /server/settings', { signal });
  return settings.map(({ name, variable, description }) => ({
    id: `server:${name}`,
    label: name,
    detail: description.replaceAll('`', ''),
    icon: 'server',
    also: `${variable} ${description}`,
    href: `/dashboard/server/settings?search=${encodeURIComponent(name)}`,
  }));
}

function loadDocs(): Promise<readonly IndexedDocs[]> {
  const guides = document.getElementById('app')?.dataset.docsIndex ?? '';
  return loadDocsIndex([guides, withBasePath('/docs/reference/search.json')]);
}

function docsEntries(index: readonly IndexedDocs[] | undefined, query: string): readonly PaletteEntry[] {
  if (index === undefined || query.trim() === '') return [];
  return findDocs(index, query.trim(), maxOfKind).map(({ page, anchor, heading, title, text }) => ({
    id: `docs:${page}#${anchor}`,
    label: heading,
    detail: `${title === heading ? '' : `${title}: `}${docsExcerpt(text, query)}`,
    icon: 'external',
    href: `/docs/${page}${anchor === '' ? '' : `#${anchor}`}`,
  }));
}
