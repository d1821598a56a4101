import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider } from 'preact-iso/router';
import { withBasePath, withoutBasePath } from '../../shared/base-path.ts';
import { restartFeed } from '../api/feed.ts';
import { invitationTokenOf } from '../api/invitation-link.ts';
import { isOidcReturn } from '../api/oidc.ts';
import { passwordResetToken } from '../api/password-reset-link.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { isAway, whenServerReturns } from '../api/server-return.ts';
import { loadSession } from '../api/sessions.ts';
import { projectKey, session } from '../state/session.ts';
import { withTexts } from '../state/texts.ts';
import { LoadError } from '../ui/states.tsx';
import { Shell } from './shell.tsx';
import { useLanguage } from './use-language.ts';

export function App() {
  const [problem, setProblem] = useState<ApiProblem>();
  const [isReturning] = useState(isOidcReturn);
  const load = () => {
    setProblem(undefined);
    loadSession().catch((error: unknown) => setProblem(problemOf(error)));
  };
  useEffect(load, []);
  useEffect(() => {
    if (problem !== undefined && isAway(problem)) return whenServerReturns(load);
  }, [problem]);
  useEffect(
    () =>
      effect(() => {
        // Each environment of a project has its own feed.
        void [projectKey.value, session.value?.sessionId];
        restartFeed();
      }),
    [],
  );
  const token = invitationTokenOf(withoutBasePath(location.pathname));
  const resetToken = passwordResetToken();
  const hasTexts = useLanguage();
  const isSignedOut =
    isReturning || resetToken !== undefined || token !== undefined || session.value === null;
  const pages = useSignedOutPages(isSignedOut && problem === undefined, setProblem);
  if (problem !== undefined && hasTexts) {
    return (
      <main class="sign-in">
        <LoadError problem={problem} retry={load} />
      </main>
    );
  }
  if (session.value === undefined || !hasTexts) return null;
  if (isSignedOut || session.value === null) {
    if (pages === undefined) return null;
    if (isReturning) return <pages.OidcReturnPage />;
    if (resetToken !== undefined) return <pages.PasswordResetPage token={resetToken} />;
    return token === undefined ? <pages.SignInPage /> : <pages.InvitationPage token={token} />;
  }
  return (
    <LocationProvider key={session.value.account.accountId} scope={withBasePath('/dashboard')}>
      <Shell />
    </LocationProvider>
  );
}

type SignedOutPages = typeof import('./signed-out-pages.ts');

/** Loads the code of the pages for people who are not signed in when they are wanted. */
function useSignedOutPages(
  areWanted: boolean,
  onProblem: (problem: ApiProblem) => void,
): SignedOutPages | undefined {
  const [pages, setPages] = useState<SignedOutPages>();
  useEffect(() => {
    if (!areWanted || pages !== undefined) return;
    withTexts(import('./signed-out-pages.ts')).then(setPages, (error: unknown) =>
      onProblem(problemOf(error)),
    );
  }, [areWanted]);
  return pages;
}
