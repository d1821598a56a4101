import type { Caller } from '../../../http/routing/caller.ts';
import { requireScope } from '../../../http/routing/scope.ts';
import type { Video, VideoChanges } from './video.ts';

/**
 * Hides tokens that open a private video from callers who may change it, but not watch it.
 * @param urls of the view that the server made, by their names
 */
export function hidePrivateTokens<View extends object>(
  { scopes }: Pick<Caller, 'scopes'>,
  view: View,
  urls: 'assets' | 'src',
): View {
  if (scopes.has('read') || !(urls in view)) return view;
  const text = JSON.stringify((view as Readonly<Record<string, unknown>>)[urls]);
  const open = text.replaceAll(/\/token\/[^/"\\]+/g, '').replaceAll(/\?token=[^"\\]+/g, '');
  return { ...view, [urls]: JSON.parse(open) as unknown };
}

/**
 * Allows copies of a video or broadcast to callers who may watch it, since they can watch the copy.
 * @throws AppError `authorization-insufficient-scope`
 */
export function requireWatchable(caller: Caller, source: string): void {
  if (!isAddress(source)) requireScope(caller, 'read');
}

/**
 * Allows callers who may not watch a video to keep others from watching it, but not to let more of them.
 * @throws AppError `authorization-insufficient-scope`
 */
export function requireWatchableBy(caller: Caller, video: Video, changes: VideoChanges): void {
  const isPublished = changes.public === true && !video.public;
  if (isPublished || changes.playbackPolicy !== undefined) requireScope(caller, 'read');
}

/** True for a source that is an address, not the id of a video or live stream. */
export function isAddress(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(source);
}
