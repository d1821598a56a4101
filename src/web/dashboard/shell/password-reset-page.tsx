import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { sessionChannel } from '../api/sessions.ts';
import { HiddenUserName, NewPasswordFields, useNewPassword } from '../pages/account/new-password-fields.tsx';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/dialog.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useLoad } from '../ui/hooks/use-load.ts';
import { Notice } from '../ui/notice.tsx';
import { LoadedContent } from '../ui/states.tsx';
import { ForgotPasswordPage } from './forgot-password-page.tsx';
import { SignInCard } from './sign-in-card.tsx';

const title = 'Set a new password';

/** The token of the link that was opened. */
export function passwordResetToken(): string | undefined {
  return /^\/dashboard\/password-reset\/(\w+)$/.exec(location.pathname)?.[1];
}

export function PasswordResetPage({ token }: { token: string }) {
  const [state, setState] = useState<'open' | 'used' | 'done' | 'forgotten'>('open');
  const loaded = useLoad(token, signal =>
    call('GET /auth/password-resets/{resetToken}', { params: { resetToken: token }, signal }),
  );
  const signIn = () => location.assign('/dashboard');
  if (state === 'forgotten') return <ForgotPasswordPage email="" onBack={signIn} />;
  if (state === 'done') {
    return (
      <SignInCard title="Your password was changed" documentTitle={title}>
        <p>You’re signed out everywhere. Sign in with your new password.</p>
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
  return <NewPasswordForm token={token} email={loaded.value.email} onEnd={setState} />;
}

function NewPasswordForm({
  token,
  email,
  onEnd,
}: {
  token: string;
  email: string;
  onEnd: (state: 'used' | 'done') => void;
}) {
  const password = useNewPassword(email);
  const submission = useSubmit(async () => {
    try {
      const body = { password: password.value };
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
    <SignInCard title={title} onSubmit={submit}>
      <p>
        For <strong>{email}</strong>. You’ll be signed out everywhere.
      </p>
      <HiddenUserName email={email} />
      <NewPasswordFields password={password} error={submission.errorOf('password')} />
      <ProblemNotice problem={submission.notice} />
      <Button kind="primary" type="submit" busy={submission.busy} disabled={!password.isReady}>
        Set password
      </Button>
    </SignInCard>
  );
}
