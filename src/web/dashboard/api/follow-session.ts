import { loadSession, sessionChannel } from './sessions.ts';

/** Keeps up with who is signed in: other tabs may change it, also while this page is left and kept for the way back. */
export function followSession(): void {
  const look = () => void loadSession().catch(() => {});
  sessionChannel.addEventListener('message', look);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) look();
  });
}
