import { useLocation as useRouterLocation } from 'preact-iso/router';
import { withBasePath, withoutBasePath } from '../../../shared/base-path.ts';

/** The page that is shown. Paths have no base path. */
export function useLocation() {
  // The router's types lack `wasPush`.
  const { path, query, route, wasPush } = useRouterLocation() as ReturnType<typeof useRouterLocation> & {
    wasPush?: boolean;
  };
  return {
    path: withoutBasePath(path),
    query,
    /** False after the back button. */
    wasPush,
    route: (url: string, replace?: boolean) => route(withBasePath(url), replace),
  };
}
