import { useState } from 'preact/hooks';
import { withBasePath, withoutBasePath } from '../../shared/base-path.ts';
import type { PasswordReset } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { sessionChannel } from '../api/sessions.ts';
import { formatDateTime } from '../format/time.ts';
import { HiddenUserName, NewPasswordFields, useNewPassword } from '../pages/account/new-password-fields.tsx';
import { describeUserAgent } from '../pages/account/user-agent.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { CheckField } from '../ui/form/field.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useLoad } from '../ui/hooks/use-load.ts';
import { Notice } from '../ui/notice.tsx';
import { LoadedContent } from '../ui/states.tsx';
import { ForgotPasswordPage } from './forgot-password-page.tsx';
import { SignInCard } from './sign-in-card.tsx';

const title = 'Set a new password';

/** The token of the link that was opened. */
export function passwordResetToken(): string | undefined {
  return /^\/dashboard\/password-reset\/(\w+)$/.exec(withoutBasePath(location.pathname))?.[1];
}

export function PasswordResetPage({ token }: { token: string }) {
  const [state, setState] = useState<'open' | 'used' | 'done' | 'forgotten'>('open');
  const loaded = useLoad(token, signal =>
    call('GET /auth/password-resets/{resetToken}', { params: { resetToken: token }, signal }),
  );
  const signIn = () => location.assign(withBasePath('/dashboard'));
  if (state === 'forgotten') return <ForgotPasswordPage email="" onBack={signIn} />;
  if (state === 'done') {
    return (
      <SignInCard title="Your password was changed" documentTitle={title}>
        <p>Sign in with your new password.</p>
        <Button kind="primary" onClick={signIn}>
          Sign in
        </Button>
      </SignInCard>
    );
  }
  if (state === 'used' || loaded.problem?.status === 404) {
    return (
      <SignInCard title={title}>
        <Notice tone="bad">
          This link doesn’t work anymore. A link works once, within an hour, and only until you request
          another one.
        </Notice>
        <Button kind="primary" onClick={() => setState('forgotten')}>
          Request a new link
        </Button>
      </SignInCard>
    );
  }
  if (loaded.value === undefined) {
    return (
      <SignInCard title={title}>
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
    <SignInCard title={title} submission={submission} onSubmit={submit}>
      <p>
        For <strong>{email}</strong>.
      </p>
      <HiddenUserName email={email} />
      <NewPasswordFields password={password} />
      {emailVerified ? (
        <>
          <KeptItems
            legend="Passkeys to keep"
            items={passkeys.map(({ passkeyId, name }) => [passkeyId, name])}
            kept={keptPasskeys}
            onKept={keepPasskeys}
          />
          <KeptItems
            legend="Sessions to keep"
            items={sessions.map(({ sessionId, userAgent, address, lastUsedAt }) => [
              sessionId,
              `${describeUserAgent(userAgent)}, from ${address}, last used ${formatDateTime(lastUsedAt)}`,
            ])}
            kept={keptSessions}
            onKept={keepSessions}
          />
        </>
      ) : (
        <Notice>
          This address isn’t verified yet. Setting a password verifies it, and removes everything that was set
          up before: passkeys, two-factor sign-in, sessions and API keys.
        </Notice>
      )}
      <ProblemNotice problem={submission.notice} />
      <Button kind="primary" type="submit" busy={submission.busy} disabled={!password.isReady}>
        Set password
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
      <p class="hint">All others are removed.</p>
    </fieldset>
  );
}
