import { options, render } from 'preact';
import { withBasePath, withoutBasePath } from '../shared/base-path.ts';
import { staleSessions } from './api/client.ts';
import { serverReturned } from './api/server-return.ts';
import { loadSession, sessionChannel } from './api/sessions.ts';
import { App } from './shell/app.tsx';
import { watchScroll } from './state/history-entries.ts';
import { watchHistory } from './state/history-guard.ts';
import { ensureValidLocale } from './state/locale.ts';

/** A base path starts with neither. */
const ownPage = /^\/(?:dashboard|docs)(?:[/?#]|$)/;

ensureValidLocale();
addBasePath();
watchHistory();
watchScroll();
followSession();
followConnection();
render(<App />, document.getElementById('app')!);

/** Links to pages of this server are written without the base path. */
function addBasePath(): void {
  const { pathname, search, hash } = location;
  const own = withBasePath(withoutBasePath(pathname));
  // Somebody who does not come through the proxy.
  if (own !== pathname) history.replaceState(history.state, '', own + search + hash);
  const before = options.vnode;
  options.vnode = vnode => {
    const props = vnode.props as { href?: unknown };
    const isOwn = vnode.type === 'a' && typeof props.href === 'string' && ownPage.test(props.href);
    if (isOwn) props.href = withBasePath(String(props.href));
    before?.(vnode);
  };
}

/** Follows the session; runs after a return from the back/forward cache, too. */
function followSession(): void {
  const look = () => void loadSession().catch(() => {});
  sessionChannel.addEventListener('message', look);
  staleSessions.addEventListener('refused', look);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) look();
  });
}

/** Retries what could not be loaded. */
function followConnection(): void {
  addEventListener('online', serverReturned);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') serverReturned();
  });
}
