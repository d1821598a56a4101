import { AppError } from '../../shared/errors.ts';
import type { NodeRole } from '../../shared/node-roles.ts';
import { corsHeaders } from '../responses/cors-headers.ts';
import { toErrorBody } from '../responses/error-body.ts';
import type { HttpRequest, HttpResponse } from './http-listener.ts';

/** Refuses requests for other roles than those of this node. */
export class RoleGate {
  readonly #roles: readonly NodeRole[];
  readonly #rolesOfPath: (path: string) => readonly NodeRole[] | undefined;
  readonly #docsBase: () => string;

  /** @param rolesOfPath the roles that answer a path; undefined for every node */
  constructor(
    roles: readonly NodeRole[],
    rolesOfPath: (path: string) => readonly NodeRole[] | undefined,
    docsBase: () => string,
  ) {
    this.#roles = roles;
    this.#rolesOfPath = rolesOfPath;
    this.#docsBase = docsBase;
  }

  isOpen(url: string | undefined): boolean {
    const needed = this.#rolesOfPath((url ?? '/').split('?', 1)[0]!);
    return needed === undefined || needed.some(role => this.#roles.includes(role));
  }

  /** Returns false for requests that this node answers. */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    if (this.isOpen(request.url)) return false;
    const detail = `This server has the roles ${this.#roles.join(', ')}. Send the request to another server, or through the load balancer.`;
    const error = new AppError('misdirected-request', detail, { details: { detail } });
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...corsHeaders };
    response.statusCode = error.status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(JSON.stringify(toErrorBody(error, this.#docsBase())));
    return true;
  }
}
