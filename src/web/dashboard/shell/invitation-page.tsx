import { useState } from 'preact/hooks';
import { withBasePath } from '../../shared/base-path.ts';
import type { RemovedCredentials } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { startOidcSignIn } from '../api/oidc.ts';
import { sessionChannel } from '../api/sessions.ts';
import { NewPasswordField } from '../pages/account/new-password-fields.tsx';
import { session } from '../state/session.ts';
import { rich, t } from '../texts/sign-in.ts';
import { bold } from '../ui/bold.tsx';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useLoad } from '../ui/hooks/use-load.ts';
import { useSignInMethods } from '../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../ui/notice.tsx';
import { LoadedContent } from '../ui/states.tsx';
import { SignInCard } from './sign-in-card.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { VerifiedCard } from './verified-card.tsx';

export function InvitationPage({ token }: { token: string }) {
  const [password, setPassword] = useState('');
  const [isSigningIn, setSigningIn] = useState(false);
  const [removed, setRemoved] = useState<RemovedCredentials>();
  const loaded = useLoad(token, signal => call('GET /invitations/{token}', { params: { token }, signal }));
  const submission = useSubmit(async () => {
    const body = loaded.value?.hasUser === true ? {} : { password };
    const accepted = await call('POST /invitations/{token}/accept', { params: { token }, body });
    sessionChannel.postMessage('changed');
    if (accepted.removedCredentials === undefined) location.assign(withBasePath('/dashboard'));
    else setRemoved(accepted.removedCredentials);
  });
  const oidc = useSubmit(startOidcSignIn);
  const provider = useSignInMethods().value?.oidc?.name;
  if (removed !== undefined) return <VerifiedCard removed={removed} href="/dashboard" />;
  if (isSigningIn && !session.value) return <SignInPage />;
  if (loaded.problem?.status === 404) {
    return (
      <SignInCard title={t('signIn.invitationTitle')} documentTitle={t('signIn.invitation')}>
        <Notice tone="bad">{t('signIn.invitationUsed')}</Notice>
        <Button kind="primary" onClick={() => location.assign(withBasePath('/dashboard'))}>
          {t('signIn.signIn')}
        </Button>
      </SignInCard>
    );
  }
  return (
    <SignInCard
      title={t('signIn.invitationTitle')}
      documentTitle={t('signIn.invitation')}
      submission={submission}
    >
      <LoadedContent loaded={loaded} height={120}>
        {({ email, role, accountName, ownerEmail, hasUser }) => {
          const isRightUser = session.value?.email === email;
          return (
            <>
              <p>
                {rich(
                  'signIn.invitationText',
                  {
                    account: accountName ?? ownerEmail ?? '',
                    role,
                    email,
                  },
                  bold,
                )}
              </p>
              {!hasUser && (
                <NewPasswordField
                  label={t('signIn.chosenPassword')}
                  email={email}
                  value={password}
                  onValue={setPassword}
                />
              )}
              {hasUser && !isRightUser && session.value && (
                <p>{t('signIn.otherUser', { email: session.value.email })}</p>
              )}
              <ProblemNotice problem={submission.notice ?? oidc.problem} />
              {hasUser && !session.value ? (
                <Button kind="primary" onClick={() => setSigningIn(true)}>
                  {t('signIn.signInToAccept')}
                </Button>
              ) : (
                <Button
                  kind="primary"
                  type="submit"
                  busy={submission.busy}
                  disabled={hasUser ? !isRightUser : password === ''}
                >
                  {t('signIn.accept')}
                </Button>
              )}
              {provider !== undefined && (!hasUser || !session.value) && (
                <Button busy={oidc.busy} onClick={() => oidc.submit()}>
                  {t('signIn.continueWith', { provider })}
                </Button>
              )}
            </>
          );
        }}
      </LoadedContent>
    </SignInCard>
  );
}
