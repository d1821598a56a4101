import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { exec } from 'preact-iso/router';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { can, projectKey, session } from '../state/session.ts';
import { Button } from '../ui/button.tsx';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Notice } from '../ui/notice.tsx';
import { DocsLink, Page } from '../ui/page.tsx';
import { EmptyState, Skeleton } from '../ui/states.tsx';
import { docsLinks } from './docs-links.ts';
import { movedPath } from './moved-paths.ts';
import { NotAllowed } from './not-allowed.tsx';
import type { PageProps } from './page-props.ts';
import { type PageRoute, routes } from './routes.ts';

interface ShownPage extends PageProps {
  readonly component: ComponentType<PageProps>;
  readonly key: string;
  readonly docs: string | undefined;
}

const loaded = new Map<PageRoute, ComponentType<PageProps>>();

/** Keeps the previous page until the code of the next one is loaded. */
export function Outlet() {
  const { path, route: goTo } = useLocation();
  const shown = useRef<ShownPage>(undefined);
  const [, setArrived] = useState<PageRoute>();
  const [problem, setProblem] = useState<ApiProblem>();
  const found = findRoute(path);
  const route = found?.route;
  const moved = found === undefined ? movedPath(path) : undefined;

  useEffect(() => {
    if (moved !== undefined) goTo(moved, true);
  }, [moved]);

  useEffect(() => {
    setProblem(undefined);
    if (route === undefined || loaded.has(route)) return;
    let isWanted = true;
    route.load().then(
      component => {
        loaded.set(route, component);
        if (isWanted) setArrived(route);
      },
      (error: unknown) => {
        if (isWanted) setProblem(problemOf(error));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [route]);

  if (found === undefined) return moved === undefined ? <NotFound /> : null;
  const { scope, isForOperator } = found.route;
  if (scope !== undefined && !can(scope)) return <NotAllowed scope={scope} />;
  if (isForOperator && session.value?.account.isOperator !== true) return <NotAllowed scope="operator" />;
  if (problem !== undefined) return <PageLoadError />;
  const component = loaded.get(found.route);
  if (component !== undefined) {
    const key = `${projectKey.value} ${found.route.path} ${JSON.stringify(found.params)}`;
    shown.current = { component, key, params: found.params, docs: docsLinks[found.route.path] };
  }
  if (shown.current !== undefined) {
    const { component: Current, key, params, docs } = shown.current;
    return (
      <DocsLink.Provider value={docs}>
        <Current key={key} params={params} />
      </DocsLink.Provider>
    );
  }
  return (
    <div class="page">
      <Skeleton height={36} />
      <Skeleton height={220} />
    </div>
  );
}

function findRoute(path: string): { route: PageRoute; params: Record<string, string> } | undefined {
  for (const route of routes) {
    const params = findParams(route, path);
    if (params !== undefined) return { route, params };
  }
  return undefined;
}

function findParams(route: PageRoute, path: string): Record<string, string> | undefined {
  try {
    const matches = exec(path, route.path) as { params: Record<string, string> } | undefined;
    return matches === undefined ? undefined : { ...matches.params };
  } catch {
    // The path contains an invalid escape sequence.
    return undefined;
  }
}

function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        icon="search"
        title="Page not found"
        action={<Button href="/dashboard">Go to overview</Button>}
      >
        The link may be mistyped.
      </EmptyState>
    </Page>
  );
}

/** The server was most likely updated, and the code of the old page is gone. */
function PageLoadError() {
  return (
    <Page title="Page not loaded">
      <Notice
        tone="bad"
        title="This page couldn’t be loaded."
        action={
          <Button small icon="refresh" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        The server can’t be reached, or was updated after you opened the dashboard.
      </Notice>
    </Page>
  );
}
