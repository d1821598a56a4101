import { render } from 'preact';
import { staleSessions } from './api/client.ts';
import { loadSession, sessionChannel } from './api/sessions.ts';
import { App } from './shell/app.tsx';
import { watchHistory } from './state/history-guard.ts';
import { ensureValidLocale } from './state/locale.ts';

ensureValidLocale();
watchHistory();
followSession();
render(<App />, document.getElementById('app')!);

/** Also runs after a return from the back/forward cache. */
function followSession(): void {
  const look = () => void loadSession().catch(() => {});
  sessionChannel.addEventListener('message', look);
  staleSessions.addEventListener('refused', look);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) look();
  });
}
