import type { Connection } from '../../../../store/connection.ts';
import type { SelectedVideoRow } from '../video-row.ts';
import type { VideoFilter } from './video-filter.ts';

export type VideoSortField = 'title' | 'createdAt' | 'publishedAt' | 'updatedAt' | 'plays';

export interface ListScope {
  readonly projectId: string;
  readonly isDiscarded: boolean;
}

export interface ListPage {
  readonly sort: { readonly field: VideoSortField; readonly direction: 'asc' | 'desc' };
  /** Number of the page, from 1. */
  readonly currentPage: number;
  readonly pageSize: number;
}

export interface VideoListPage {
  readonly rows: readonly SelectedVideoRow[];
  readonly total: number;
}

/** Lists videos, exact at one moment during the request. */
export interface VideoLists {
  list(scope: ListScope, filter: VideoFilter, page: ListPage): Promise<VideoListPage>;
  /** Call this after each write of texts, with their length, and after each removal. May index many of them. */
  noteWrite(characters: number, connection: Connection): Promise<void>;
}
