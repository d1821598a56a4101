import { isClipPath } from '../delivery/clips/clip-endpoint.ts';
import { findDeliveryPath } from '../delivery/paths/delivery-paths.ts';
import { isWhepPath } from '../delivery/whep/whep-endpoint.ts';
import { isWhipPath } from '../ingest/whip/whip-endpoint.ts';
import type { NodeRole } from '../shared/node-roles.ts';

const everyNode = /^\/(?:health\/|metrics$)/;

/** Reports of players come from the pages that `delivery` serves. */
const playerReports = '/watch';

/** Returns the roles that answer a path; undefined for what tells of the node itself. */
export function rolesOfPath(path: string): readonly NodeRole[] | undefined {
  if (everyNode.test(path)) return undefined;
  if (path.startsWith('/vod/')) return ['delivery'];
  // The node that packages a broadcast has its media.
  if (findDeliveryPath(path) !== undefined || isWhepPath(path) || isClipPath(path))
    return ['delivery', 'ingest'];
  if (isWhipPath(path)) return ['ingest'];
  return path === playerReports ? ['delivery', 'api'] : ['api'];
}

/** Tells the paths to which players report, with the older protocol, too. */
export function isPlayerReport({
  method,
  url = '',
}: {
  readonly method?: string;
  readonly url?: string;
}): boolean {
  return method === 'POST' && /^\/(?:watch|vod|live)(?:\?|$)/.test(url);
}
