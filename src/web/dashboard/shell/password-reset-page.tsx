import { useState } from 'preact/hooks';
import { withBasePath } from '../../shared/base-path.ts';
import type { PasswordReset } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { sessionChannel } from '../api/sessions.ts';
import { formatDateTime } from '../format/time.ts';
import { HiddenUserName, NewPasswordFields, useNewPassword } from '../pages/account/new-password-fields.tsx';
import { describeUserAgent } from '../pages/account/user-agent.ts';
import { rich, t } from '../texts/sign-in.ts';
import { bold } from '../ui/bold.tsx';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { CheckField } from '../ui/form/field.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useLoad } from '../ui/hooks/use-load.ts';
import { Notice } from '../ui/notice.tsx';
import { LoadedContent } from '../ui/states.tsx';
import { ForgotPasswordPage } from './forgot-password-page.tsx';
import { SignInCard } from './sign-in-card.tsx';

export function PasswordResetPage({ token }: { token: string }) {
  const [state, setState] = useState<'open' | 'used' | 'done' | 'forgotten'>('open');
  const loaded = useLoad(token, signal =>
    call('GET /auth/password-resets/{resetToken}', { params: { resetToken: token }, signal }),
  );
  const signIn = () => location.assign(withBasePath('/dashboard'));
  if (state === 'forgotten') return <ForgotPasswordPage email="" onBack={signIn} />;
  if (state === 'done') {
    return (
      <SignInCard title={t('signIn.changedTitle')} documentTitle={t('signIn.newPassword')}>
        <p>{t('signIn.changedText')}</p>
        <Button kind="primary" onClick={signIn}>
          {t('signIn.signIn')}
        </Button>
      </SignInCard>
    );
  }
  if (state === 'used' || loaded.problem?.status === 404) {
    return (
      <SignInCard title={t('signIn.newPassword')}>
        <Notice tone="bad">{t('signIn.linkUsed')}</Notice>
        <Button kind="primary" onClick={() => setState('forgotten')}>
          {t('signIn.newLink')}
        </Button>
      </SignInCard>
    );
  }
  if (loaded.value === undefined) {
    return (
      <SignInCard title={t('signIn.newPassword')}>
        <LoadedContent loaded={loaded} height={200}>
          {() => null}
        </LoadedContent>
      </SignInCard>
    );
  }
  return <NewPasswordForm token={token} reset={loaded.value} onEnd={setState} />;
}

function NewPasswordForm({
  token,
  reset,
  onEnd,
}: {
  token: string;
  reset: PasswordReset;
  onEnd: (state: 'used' | 'done') => void;
}) {
  const { email, emailVerified, passkeys, sessions } = reset;
  const password = useNewPassword(email);
  const [keptPasskeys, keepPasskeys] = useState<readonly string[]>([]);
  const [keptSessions, keepSessions] = useState<readonly string[]>([]);
  const submission = useSubmit(async () => {
    try {
      const body = {
        password: password.value,
        ...(emailVerified ? { keepPasskeys: keptPasskeys, keepSessions: keptSessions } : {}),
      };
      await call('POST /auth/password-resets/{resetToken}/complete', { params: { resetToken: token }, body });
    } catch (error) {
      if (problemOf(error).status !== 404) throw error;
      onEnd('used');
      return;
    }
    sessionChannel.postMessage('changed');
    onEnd('done');
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (password.isReady) submission.submit();
  };
  return (
    <SignInCard title={t('signIn.newPassword')} submission={submission} onSubmit={submit}>
      <p>{rich('signIn.newPasswordFor', { email }, bold)}</p>
      <HiddenUserName email={email} />
      <NewPasswordFields password={password} />
      {emailVerified ? (
        <>
          <KeptItems
            legend={t('signIn.passkeysToKeep')}
            items={passkeys.map(({ passkeyId, name }) => [passkeyId, name])}
            kept={keptPasskeys}
            onKept={keepPasskeys}
          />
          <KeptItems
            legend={t('signIn.sessionsToKeep')}
            items={sessions.map(({ sessionId, userAgent, address, lastUsedAt }) => [
              sessionId,
              t('signIn.sessionItem', {
                client: describeUserAgent(userAgent),
                address,
                date: formatDateTime(lastUsedAt),
              }),
            ])}
            kept={keptSessions}
            onKept={keepSessions}
          />
        </>
      ) : (
        <Notice>{t('signIn.unverified')}</Notice>
      )}
      <ProblemNotice problem={submission.notice} />
      <Button kind="primary" type="submit" busy={submission.busy} disabled={!password.isReady}>
        {t('signIn.setPassword')}
      </Button>
    </SignInCard>
  );
}

/** Passkeys and sessions that end with the new password unless it is chosen. */
function KeptItems({
  legend,
  items,
  kept,
  onKept,
}: {
  legend: string;
  items: readonly (readonly [id: string, label: string])[];
  kept: readonly string[];
  onKept: (kept: readonly string[]) => void;
}) {
  if (items.length === 0) return null;
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {items.map(([id, label]) => (
        <CheckField
          key={id}
          label={label}
          checked={kept.includes(id)}
          onValue={isKept => onKept(isKept ? [...kept, id] : kept.filter(one => one !== id))}
        />
      ))}
      <p class="hint">{t('signIn.othersRemoved')}</p>
    </fieldset>
  );
}
