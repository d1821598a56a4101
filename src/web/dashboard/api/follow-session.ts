import { loadSession, sessionChannel } from './sessions.ts';

/** Follows sign-ins of other tabs, also after a return from the back/forward cache. */
export function followSession(): void {
  const look = () => void loadSession().catch(() => {});
  sessionChannel.addEventListener('message', look);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) look();
  });
}
