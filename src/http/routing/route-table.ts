import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { AppError } from '../../shared/errors.ts';
import type { Route } from './route.ts';

type ServeRoute = (ctx: Context, route: Route, params: Record<string, string>) => Promise<void>;

/** Case sensitive. Routes with the same first segment and length share a router, for speed. */
export class RouteTable {
  readonly #routers = new Map<string, Router>();

  constructor(routes: readonly Route[], serve: ServeRoute) {
    for (const route of fixedPartsFirst(routes)) {
      const shape = shapeOf(route.path);
      const router = this.#routers.get(shape) ?? new Router({ sensitive: true, strict: true });
      this.#routers.set(shape, router);
      const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
      // The path that comes first hides the others: `/videos/recent` is no video.
      router.register(path, [route.method], (ctx, next) =>
        ctx.matched?.[0]?.path === path ? serve(ctx, route, ctx.params) : next(),
      );
    }
    const dispatchers = new Map([...this.#routers].map(([shape, router]) => [shape, router.routes()]));
    this.dispatch = (ctx, next) => dispatchers.get(shapeOf(ctx.path))?.(ctx as RouterContext, next) ?? next();
  }

  readonly dispatch: Middleware;

  /** Sorted; empty for an unknown path. */
  methodsOf(path: string): string[] {
    const matched = this.#routers.get(shapeOf(path))?.match(path, 'OPTIONS').path ?? [];
    const methods = new Set(
      matched.flatMap(({ path, methods }) => (path === matched[0]?.path ? methods : [])),
    );
    if (methods.size > 0) methods.add('OPTIONS');
    return [...methods].sort();
  }

  errorFor(path: string): { error: AppError; allow: string | undefined } {
    const methods = this.methodsOf(path);
    if (methods.length === 0) return { error: new AppError('unrecognized-request-url'), allow: undefined };
    return { error: new AppError('method-not-allowed'), allow: methods.join(', ') };
  }
}

function shapeOf(path: string | null): string {
  // Koa's path is null for a request target such as `http://?x`, in spite of its types.
  if (path === null) return '';
  const firstEnd = path.indexOf('/', 1);
  if (firstEnd < 0) return path;
  let slashes = 1;
  for (let at = firstEnd; at >= 0; at = path.indexOf('/', at + 1)) slashes += 1;
  return `${path.slice(0, firstEnd)}${slashes}`;
}

/** Sorts `/videos/recent` before `/videos/{videoId}`. */
function fixedPartsFirst(routes: readonly Route[]): Route[] {
  const patternOf = ({ path }: Route) =>
    path
      .split('/')
      .map(part => (part.startsWith('{') ? '1' : '0'))
      .join('');
  return [...Map.groupBy(routes, patternOf)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, same]) => same);
}
