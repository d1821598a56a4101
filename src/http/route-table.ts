import Router from '@koa/router';
import type { Context } from 'koa';
import { AppError } from '../shared/errors.ts';
import type { Route } from './route.ts';

/** Serves a request that belongs to a route. */
export type ServeRoute = (ctx: Context, route: Route, params: Record<string, string>) => Promise<void>;

/** Finds the route of a request. Paths are case sensitive and have no slash at their end. */
export class RouteTable {
  readonly #router = new Router({ sensitive: true, strict: true });

  constructor(routes: readonly Route[], serve: ServeRoute) {
    for (const route of routes.toSorted(fixedPartsFirst)) {
      const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
      this.#router.register(path, [route.method], ctx => serve(ctx, route, ctx.params));
    }
  }

  /** Calls `serve` for the route of a request, or `next` when there is none. */
  dispatch = this.#router.routes();

  /** Methods of a path, sorted; empty when the path is not known. */
  methodsOf(path: string): string[] {
    const methods = new Set(this.#router.match(path, 'OPTIONS').path.flatMap(layer => layer.methods));
    if (methods.size > 0) methods.add('OPTIONS');
    return [...methods].sort();
  }

  /**
   * What to tell about a request that no route took.
   *
   * @returns the error and, for a known path, what to say in `Allow`
   */
  refusalOf(path: string): { error: AppError; allow: string | undefined } {
    const methods = this.methodsOf(path);
    if (methods.length === 0) return { error: new AppError('unrecognized-request-url'), allow: undefined };
    return { error: new AppError('method-not-allowed'), allow: methods.join(', ') };
  }
}

/** `/videos/recent` is tried before `/videos/{videoId}`. */
function fixedPartsFirst(a: Route, b: Route): number {
  const aParts = a.path.split('/');
  const bParts = b.path.split('/');
  for (const [index, part] of aParts.entries()) {
    const other = bParts[index] ?? '';
    const difference = Number(part.startsWith('{')) - Number(other.startsWith('{'));
    if (difference !== 0) return difference;
  }
  return 0;
}
