import { isClipPath } from '../delivery/clips/clip-endpoint.ts';
import { parseViewerPath } from '../delivery/viewer-path.ts';
import { parseVodPath } from '../delivery/vod/vod-path.ts';
import { isWhepPath } from '../delivery/whep/whep-endpoint.ts';
import type { HttpRequest, HttpResponse } from '../http/listener/http-listener.ts';
import { corsHeaders } from '../http/responses/cors-headers.ts';
import { toErrorBody } from '../http/responses/error-body.ts';
import { isWhipPath } from '../ingest/whip/whip-endpoint.ts';
import { AppError } from '../shared/errors.ts';
import type { NodeRole } from '../shared/node-roles.ts';

const everyNode = /^\/(?:health\/|metrics$)/;

/** Reports of players come from the pages that `delivery` serves. */
const playerReports = '/watch';

/** The roles that answer a path; none is needed for what tells of the node itself. */
function rolesOfPath(path: string): readonly NodeRole[] | undefined {
  if (everyNode.test(path)) return undefined;
  if (parseVodPath(path) !== undefined) return ['delivery'];
  // The node that packages a broadcast has its media.
  if (parseViewerPath(path) !== undefined || isWhepPath(path) || isClipPath(path))
    return ['delivery', 'ingest'];
  if (isWhipPath(path)) return ['ingest'];
  return path === playerReports ? ['delivery', 'api'] : ['api'];
}

/** Refuses requests for other roles than those of this node. */
export class RoleGate {
  readonly #roles: readonly NodeRole[];
  readonly #docsBase: () => string;

  constructor(roles: readonly NodeRole[], docsBase: () => string) {
    this.#roles = roles;
    this.#docsBase = docsBase;
  }

  isOpen(url: string | undefined): boolean {
    const needed = rolesOfPath((url ?? '/').split('?', 1)[0]!);
    return needed === undefined || needed.some(role => this.#roles.includes(role));
  }

  /** Returns false for requests that this node answers. */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    if (this.isOpen(request.url)) return false;
    const detail = `This server has the roles ${this.#roles.join(', ')}. Send the request to another one, or through the load balancer.`;
    const error = new AppError('misdirected-request', detail, { details: { detail } });
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...corsHeaders };
    response.statusCode = error.status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(JSON.stringify(toErrorBody(error, this.#docsBase())));
    return true;
  }
}
