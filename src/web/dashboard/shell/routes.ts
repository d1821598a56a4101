import type { ComponentType } from 'preact';

/** What a page is given: the parts of its address. */
export interface PageProps {
  /** By the `:names` of its path. */
  readonly params: Readonly<Record<string, string>>;
}

/** A page of the dashboard. Its code is loaded when it is first shown. */
export interface PageRoute {
  /** With `:names` for parts that vary. */
  readonly path: string;
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** Every page. */
export const routes: readonly PageRoute[] = [
  {
    path: '/dashboard',
    load: () => import('../pages/overview/overview-page.tsx').then(module => module.OverviewPage),
  },
];
