import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider } from 'preact-iso/router';
import { withBasePath, withoutBasePath } from '../../shared/base-path.ts';
import { restartFeed } from '../api/feed.ts';
import { invitationTokenOf } from '../api/invitation-link.ts';
import { isOidcReturn } from '../api/oidc.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { isAway, whenServerReturns } from '../api/server-return.ts';
import { loadSession } from '../api/sessions.ts';
import { projectKey, session } from '../state/session.ts';
import { LoadError } from '../ui/states.tsx';
import { InvitationPage } from './invitation-page.tsx';
import { OidcReturnPage } from './oidc-return-page.tsx';
import { PasswordResetPage, passwordResetToken } from './password-reset-page.tsx';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in-page.tsx';
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
  const isOutside = isReturning || resetToken !== undefined || token !== undefined;
  const hasTexts = useLanguage(
    session.value === undefined && problem === undefined ? undefined : !isOutside && Boolean(session.value),
  );
  if (problem !== undefined) {
    return (
      <main class="sign-in">
        <LoadError problem={problem} retry={load} />
      </main>
    );
  }
  if (session.value === undefined || !hasTexts) return null;
  if (isReturning) return <OidcReturnPage />;
  if (resetToken !== undefined) return <PasswordResetPage token={resetToken} />;
  if (token !== undefined) return <InvitationPage token={token} />;
  if (session.value === null) return <SignInPage />;
  return (
    <LocationProvider key={session.value.account.accountId} scope={withBasePath('/dashboard')}>
      <Shell />
    </LocationProvider>
  );
}
