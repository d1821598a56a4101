import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { accountCommand } from '../format/account-command.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { TextField } from '../ui/form/field.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useSignInMethods } from '../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../ui/notice.tsx';
import { LoadedContent } from '../ui/states.tsx';
import { SignInCard } from './sign-in-card.tsx';

/** Sends a link for a new password, or names those who can help where the server sends no mails. */
export function ForgotPasswordPage({ email: typed, onBack }: { email: string; onBack: () => void }) {
  const [email, setEmail] = useState(typed);
  const [sentTo, setSentTo] = useState<string>();
  const methods = useSignInMethods();
  const address = email.trim();
  const submission = useSubmit(async () => {
    await call('POST /auth/password-resets', { body: { email: address } });
    setSentTo(address);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (address !== '') submission.submit();
  };
  return (
    <SignInCard
      title={sentTo === undefined ? 'Forgot your password?' : 'Check your inbox'}
      documentTitle="Forgot your password?"
      submission={submission}
      onSubmit={submit}
    >
      <LoadedContent loaded={methods} height={140}>
        {({ passwordReset }) => {
          if (!passwordReset) return <WithoutMail />;
          if (sentTo !== undefined) return <Sent to={sentTo} onAgain={() => setSentTo(undefined)} />;
          return (
            <>
              <p>Enter your email address. We’ll send you a link to set a new password.</p>
              <TextField
                label="Email"
                type="email"
                name="email"
                autocomplete="username"
                value={email}
                onValue={setEmail}
                field="email"
                required
              />
              <ProblemNotice problem={submission.notice} />
              <Button kind="primary" type="submit" busy={submission.busy} disabled={address === ''}>
                Send link
              </Button>
            </>
          );
        }}
      </LoadedContent>
      <Button kind="quiet" onClick={onBack}>
        Back to sign-in
      </Button>
    </SignInCard>
  );
}

function Sent({ to, onAgain }: { to: string; onAgain: () => void }) {
  return (
    <>
      <Notice tone="good">
        <p>
          If a user has the address <strong>{to}</strong>, we’ve sent a link to it. It works once, within an
          hour.
        </p>
      </Notice>
      <p class="hint">
        No email after a few minutes? Check your spam folder, and make sure that the address is right.
      </p>
      <Button onClick={onAgain}>Send another link</Button>
    </>
  );
}

function WithoutMail() {
  return (
    <>
      <p>
        This server doesn’t send email. Ask its operator for a new password. The operator runs this on the
        server:
      </p>
      <p>
        <code>{accountCommand('password EMAIL')}</code>
      </p>
    </>
  );
}
