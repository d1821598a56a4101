import { useEffect, useState } from 'preact/hooks';
import { withBasePath } from '../../shared/base-path.ts';
import type { RemovedCredentials } from '../api/api-types.ts';
import { invitationTokenOf } from '../api/invitation-link.ts';
import { finishOidcSignIn, returnPath } from '../api/oidc.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { t } from '../texts/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { SignInCard } from './sign-in-card.tsx';
import { VerifiedCard } from './verified-card.tsx';

/** Finishes a sign-in with the OpenID Connect provider. */
export function OidcReturnPage() {
  const [problem, setProblem] = useState<ApiProblem>();
  const [removed, setRemoved] = useState<RemovedCredentials>();
  useEffect(() => {
    const query = location.search.slice(1);
    // The code works once.
    history.replaceState(null, '', location.pathname);
    finishOidcSignIn(query)
      .then(ended => (ended === undefined ? location.replace(withBasePath(returnPath())) : setRemoved(ended)))
      .catch((error: unknown) => setProblem(problemOf(error)));
  }, []);
  if (removed !== undefined) return <VerifiedCard removed={removed} href={returnPath()} />;
  return (
    <SignInCard title={t('signIn.title')} documentTitle={t('signIn.documentTitle')}>
      {problem === undefined ? (
        <p role="status">{t('signIn.signingIn')}</p>
      ) : (
        <>
          <ProblemNotice problem={problem} />
          <Button kind="primary" href={returnPath()}>
            {t(invitationTokenOf(returnPath()) === undefined ? 'signIn.back' : 'signIn.backToInvitation')}
          </Button>
        </>
      )}
    </SignInCard>
  );
}
