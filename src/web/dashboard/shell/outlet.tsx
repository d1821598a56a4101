import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { exec } from 'preact-iso/router';
import { whenServerReturns } from '../api/server-return.ts';
import { can, projectKey, session } from '../state/session.ts';
import { withTexts } from '../state/texts.ts';
import { t } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Notice } from '../ui/notice.tsx';
import { DocsLink, Page } from '../ui/page.tsx';
import { EmptyState, Skeleton } from '../ui/states.tsx';
import { docsLinks } from './docs-links.ts';
import { movedPart, movedPath } from './moved-paths.ts';
import { NotAllowed } from './not-allowed.tsx';
import type { PageProps } from './page-props.ts';
import { type PageRoute, routes } from './routes.ts';
import { useScrollMemory } from './use-scroll-memory.ts';

interface ShownPage extends PageProps {
  readonly component: ComponentType<PageProps>;
  readonly key: string;
  readonly docs: string | undefined;
}

const loaded = new Map<PageRoute, ComponentType<PageProps>>();

/** Keeps the previous page until the code of the next one is loaded. */
export function Outlet() {
  const { path } = useLocation();
  const shown = useRef<ShownPage>(undefined);
  const isMoving = useMovedPage(path);
  const found = isMoving ? undefined : findRoute(path);
  const { component, hasFailed } = usePageCode(found?.route);
  if (found !== undefined && component !== undefined) {
    const key = `${projectKey.value} ${found.route.path} ${JSON.stringify(found.params)}`;
    shown.current = { component, key, params: found.params, docs: docsLinks[found.route.path] };
  }
  useScrollMemory(component === undefined ? undefined : shown.current?.key);

  if (isMoving) return null;
  if (found === undefined) return <NotFound />;
  const { scope, isForOperator } = found.route;
  if (scope !== undefined && !can(scope)) return <NotAllowed scope={scope} />;
  if (isForOperator && session.value?.account.isOperator !== true) return <NotAllowed scope="operator" />;
  if (hasFailed) return <PageLoadError />;
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

/** Follows an address that a page had before, or has elsewhere. Returns true while it does. */
function useMovedPage(path: string): boolean {
  const { route: goTo } = useLocation();
  const moved =
    movedPart(path + location.hash) ??
    movedPart(path) ??
    (findRoute(path) === undefined ? movedPath(path) : undefined);
  useEffect(() => {
    if (moved === undefined) return;
    goTo(moved.includes('#') ? moved : moved + location.search + location.hash, true);
  }, [moved]);
  return moved !== undefined;
}

/** Loads the code of a page; again when the server is back. */
function usePageCode(route: PageRoute | undefined): {
  readonly component: ComponentType<PageProps> | undefined;
  readonly hasFailed: boolean;
} {
  const [, setArrived] = useState<PageRoute>();
  // Each failure is an object of its own.
  const [failed, setFailed] = useState<{ readonly route: PageRoute }>();
  const [round, setRound] = useState(0);
  useEffect(() => setFailed(undefined), [route]);
  useEffect(() => {
    if (route === undefined || loaded.has(route)) return;
    let isWanted = true;
    withTexts(route.load()).then(
      component => {
        loaded.set(route, component);
        if (isWanted) setArrived(route);
      },
      () => {
        if (isWanted) setFailed({ route });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [route, round]);
  const hasFailed = failed !== undefined && failed.route === route && !loaded.has(route);
  useEffect(() => {
    if (hasFailed) return whenServerReturns(() => setRound(number => number + 1));
  }, [failed, hasFailed]);
  return { component: route && loaded.get(route), hasFailed };
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
    <Page title={t('page.notFound')}>
      <EmptyState
        icon="search"
        title={t('page.notFoundTitle')}
        action={<Button href="/dashboard">{t('page.toOverview')}</Button>}
      >
        {t('page.mistyped')}
      </EmptyState>
    </Page>
  );
}

/** The server was most likely updated, and the code of the old page is gone. */
function PageLoadError() {
  return (
    <Page title={t('page.notLoaded')}>
      <Notice
        tone="bad"
        title={t('page.couldNotLoad')}
        action={
          <Button small icon="refresh" onClick={() => location.reload()}>
            {t('page.reload')}
          </Button>
        }
      >
        {t('page.updated')}
      </Notice>
    </Page>
  );
}
