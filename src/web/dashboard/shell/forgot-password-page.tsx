import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { accountCommand } from '../format/account-command.ts';
import { rich, t } from '../texts/sign-in.ts';
import { bold } from '../ui/bold.tsx';
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
      title={t(sentTo === undefined ? 'signIn.forgotTitle' : 'signIn.inboxTitle')}
      documentTitle={t('signIn.forgotTitle')}
      submission={submission}
      onSubmit={submit}
    >
      <LoadedContent loaded={methods} height={140}>
        {({ passwordReset }) => {
          if (!passwordReset) return <WithoutMail />;
          if (sentTo !== undefined) return <Sent to={sentTo} onAgain={() => setSentTo(undefined)} />;
          return (
            <>
              <p>{t('signIn.forgotText')}</p>
              <TextField
                label={t('signIn.email')}
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
                {t('signIn.sendLink')}
              </Button>
            </>
          );
        }}
      </LoadedContent>
      <Button kind="quiet" onClick={onBack}>
        {t('signIn.back')}
      </Button>
    </SignInCard>
  );
}

function Sent({ to, onAgain }: { to: string; onAgain: () => void }) {
  return (
    <>
      <Notice tone="good">
        <p>{rich('signIn.sent', { email: to }, bold)}</p>
      </Notice>
      <p class="hint">{t('signIn.spam')}</p>
      <Button onClick={onAgain}>{t('signIn.sendAnother')}</Button>
    </>
  );
}

function WithoutMail() {
  return (
    <>
      <p>{t('signIn.withoutMail')}</p>
      <p>
        <code dir="ltr">{accountCommand('password EMAIL')}</code>
      </p>
    </>
  );
}
